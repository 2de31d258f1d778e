// The one list of runtime types. A new type is a folder and a row here.
#include "runtime/cache/cache.hpp"
#include "runtime/client/client.hpp"
#include "runtime/options.hpp"
#include "runtime/runtime.hpp"
#include "runtime/server/server.hpp"

namespace strata::runtime {

namespace {

const type_row table[] = {
    {"server", "listens, and passes messages between those who connect", server_rows, make_server},
    {"client", "connects to an endpoint, and sends and receives messages", client_rows,
     make_client},
    {"cache", "keeps keys and values in memory, and speaks Redis's protocol", cache_rows,
     make_cache},
};

}  // namespace

std::span<const type_row> types() { return table; }

const type_row* find_type(std::string_view name) {
  for (const auto& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

edit_outcome sort_changes(const std::vector<option_row>& rows, const nlohmann::json& changes,
                          bool running) {
  edit_outcome outcome;
  for (const auto& row : rows) {
    if (!changes.contains(row.key)) continue;
    const bool later = row.needs_restart && running;
    (later ? outcome.needs_restart : outcome.applied).emplace_back(row.key);
  }
  return outcome;
}

}  // namespace strata::runtime
