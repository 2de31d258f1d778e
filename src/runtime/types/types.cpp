// The one list of runtime types. A new type is a folder and a row here.
#include "runtime/types/types.hpp"

#include <algorithm>

#include "runtime/cache/cache.hpp"
#include "runtime/client/client.hpp"
#include "runtime/program/program.hpp"
#include "runtime/proxy/choice/figures.hpp"
#include "runtime/proxy/proxy.hpp"
#include "runtime/runtime.hpp"
#include "runtime/scripting/figures.hpp"
#include "runtime/server/server.hpp"

namespace strata::runtime {

namespace {

const type_row table[] = {
    {"server", "listens for clients and relays messages between them", server::option_rows,
     server::figure_rows, server::operation_rows, server::make},
    {"client", "connects to an endpoint, sends and receives messages", client::option_rows,
     scripting::script_figure_rows, client::operation_rows, client::make},
    {"proxy", "listens for clients and forwards their connections to backends", proxy::option_rows,
     proxy::figure_rows, proxy::operation_rows, proxy::make, proxy::detail_rows, proxy::flag_sets},
    {"cache", "keeps keys and values in memory and speaks the Redis protocol", cache::option_rows,
     cache::figure_rows, cache::operation_rows, cache::make},
    {"program", "runs a program of the system and looks after its processes", program::option_rows,
     common_figure_rows, program::operation_rows, program::make},
};

}  // namespace

std::vector<options::option_row> flags_of(const type_row& type) {
  auto rows = type.rows();
  if (type.flag_sets == nullptr) return rows;
  for (const auto& set : type.flag_sets()) rows.push_back(set.row);
  return rows;
}

std::span<const type_row> types() { return table; }

const type_row* find_type(std::string_view name) {
  for (const auto& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

const std::vector<options::option_row>& tap_rows() {
  static const auto rows = options::rows_of(tap_filter_table());
  return rows;
}

const std::vector<options::figure_row>& all_figures() {
  static const auto all = [] {
    auto rows = common_figure_rows();
    for (const auto& type : table) {
      for (const auto& row : type.figures()) {
        if (std::ranges::find(rows, row.key, &options::figure_row::key) == rows.end())
          rows.push_back(row);
      }
    }
    return rows;
  }();
  return all;
}

const std::vector<shared_operation>& all_operations() {
  static const auto all = [] {
    std::vector<shared_operation> operations;
    for (const auto& type : table) {
      for (const auto& row : type.operations()) {
        const auto known = std::ranges::find(operations, row.name,
                                             [](const auto& each) { return each.row->name; });
        if (known == operations.end()) {
          operations.push_back({&row, {type.name}});
        } else {
          known->types.push_back(type.name);
        }
      }
    }
    return operations;
  }();
  return all;
}

const shared_operation* find_shared_operation(std::string_view name) {
  const auto& all = all_operations();
  const auto found = std::ranges::find(all, name, [](const auto& each) { return each.row->name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace strata::runtime
