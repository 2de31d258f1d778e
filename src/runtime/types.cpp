// The one list of runtime types. A new type is a folder and a row here.
#include "runtime/cache/cache.hpp"
#include "runtime/client/client.hpp"
#include "runtime/options.hpp"
#include "runtime/runtime.hpp"
#include "runtime/server/server.hpp"

namespace strata::runtime {

namespace {

const type_row table[] = {
    {"server", "listens, and passes messages between those who connect", server::option_rows,
     server::make},
    {"client", "connects to an endpoint, and sends and receives messages", client::option_rows,
     client::make},
    {"cache", "keeps keys and values in memory, and speaks Redis's protocol", cache::option_rows,
     cache::make},
};

}  // namespace

std::span<const type_row> types() { return table; }

const type_row* find_type(std::string_view name) {
  for (const auto& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

edit_outcome sort_changes(const std::vector<options::option_row>& rows,
                          const nlohmann::json& changes, bool running) {
  edit_outcome outcome;
  for (const auto& row : rows) {
    if (!changes.contains(row.key)) continue;
    const bool later = row.needs_restart && running;
    (later ? outcome.needs_restart : outcome.applied).emplace_back(row.key);
  }
  return outcome;
}

}  // namespace strata::runtime
