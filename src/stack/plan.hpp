// Compares the desired state of a runtime with its present state: a plan of what is left to do.
//
// Plain values and pure functions. The caller fetches the present runtime and carries out the plan.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/option_table.hpp"
#include "strata/base/result.hpp"

namespace strata::stack {

/// A runtime as described in a stack file.
struct desired_runtime {
  std::string name = {};
  std::string type = {};
  /// As returned by `normalised`. Null resets an option; an option that is not named keeps its
  /// value.
  nlohmann::json options = nlohmann::json::object();
  bool runs = true;  ///< false: it is left started or stopped as it is
};

/// A runtime as the daemon shows it.
struct present_runtime {
  std::string type = {};
  nlohmann::json options = nlohmann::json::object();  ///< all options; a secret may be masked
  bool is_running = false;
};

/// Whether the value is the option's default.
[[nodiscard]] bool is_default(const options::option_row& row, const nlohmann::json& value);

struct plan {
  bool is_creation = false;
  /// Options to set: for a creation, all desired ones; otherwise those that differ.
  nlohmann::json changes = nlohmann::json::object();
  /// Keys of `changes` that take effect at the next start; empty unless the runtime runs.
  std::vector<std::string> waiting = {};
  bool is_start = false;
};

/// Converts `options` to the forms of the rows: text of a number or a flag to its value, one string
/// to a list, a relative path to one below `folder`. Null stays null.
///
/// Errors: invalid_argument for options that are no JSON object and for a wrong value;
/// not_supported for an option that a `type` lacks. The error's reason is a whole sentence.
[[nodiscard]] result<nlohmann::json> normalised(std::span<const options::option_row> rows,
                                                std::string_view type, nlohmann::json options,
                                                const std::string& folder);

/// Returns what makes `present` equal to `desired`; without `present`, its creation. `rows` belong
/// to the desired type.
///
/// Errors: already_exists if a runtime of another type has the name, and not_supported as
/// `normalised`. The error's reason is a whole sentence.
[[nodiscard]] result<plan> plan_for(std::span<const options::option_row> rows,
                                    const desired_runtime& desired,
                                    const std::optional<present_runtime>& present);

}  // namespace strata::stack
