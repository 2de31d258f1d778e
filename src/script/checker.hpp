// Checks a script for mistakes without running it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::script {

struct finding {
  std::size_t line = 0;
  std::string what;
};

/// A global table of the program and its members: `send`, `json`, `json.encode`.
struct known_table {
  std::string name;
  std::vector<std::string> members;
};

struct known_names {
  std::vector<known_table> tables;
  std::vector<std::string> callbacks;  ///< any other function that begins with `on_` is never
                                       ///< called
};

/// Finds syntax errors, names that a table does not have, and functions that are never called; by
/// line.
[[nodiscard]] std::vector<finding> check_source(std::string_view text, const std::string& name,
                                                const known_names& known);

}  // namespace strata::script
