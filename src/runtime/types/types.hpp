// The one list of runtime types, which is in types.cpp.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "options/figure_table.hpp"
#include "options/option_table.hpp"
#include "runtime/figures.hpp"
#include "runtime/operations.hpp"

namespace strata::runtime {

class runtime;
struct context;

/// A runtime type: everything that the daemon and the CLI know about it in advance.
struct type_row {
  std::string_view name;
  std::string_view summary;
  const std::vector<options::option_row>& (*rows)();
  const std::vector<options::figure_row>& (*figures)();
  const std::vector<operation_row>& (*operations)();
  /// Makes a runtime of this type from its options, checked as a whole. Daemon only.
  result<std::unique_ptr<runtime>> (*make)(context&&, const nlohmann::json& options);
  /// Null if no objects within it have figures.
  std::span<const detail_row> (*details)() = nullptr;
  /// Null if it has none.
  std::span<const options::flag_set> (*flag_sets)() = nullptr;
};

/// The flags of the type on the command line: its options, and its sets of them.
[[nodiscard]] std::vector<options::option_row> flags_of(const type_row& type);

[[nodiscard]] std::span<const type_row> types();
[[nodiscard]] const type_row* find_type(std::string_view name);
/// The figures of all types, each once; those of every runtime come first.
[[nodiscard]] const std::vector<options::figure_row>& all_figures();

/// The parameters of `strata tap` and of its route.
[[nodiscard]] const std::vector<options::option_row>& tap_rows();

/// An operation, and the types that have it.
struct shared_operation {
  const operation_row* row;  ///< row of the first type; `run` is that type's own
  std::vector<std::string_view> types;
};
/// The operations of all types, each once.
[[nodiscard]] const std::vector<shared_operation>& all_operations();
/// Null if no type has it.
[[nodiscard]] const shared_operation* find_shared_operation(std::string_view name);

}  // namespace strata::runtime
