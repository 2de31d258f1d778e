// What shall be of a runtime, compared with what is: a plan of what is left to do.
//
// Plain values and pure functions. The caller asks for the present runtime and carries out the
// plan.
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

/// A runtime as somebody describes it.
struct desired_runtime {
  std::string name = {};
  std::string type = {};
  /// As `normalised` returns them. Null resets an option; one that is not named stays as it is.
  nlohmann::json options = nlohmann::json::object();
  bool runs = true;  ///< false: started or stopped, it stays as it is
};

/// A runtime as the daemon shows it.
struct present_runtime {
  std::string type = {};
  nlohmann::json options = nlohmann::json::object();  ///< all of them; a secret may be masked
  bool is_running = false;
};

struct plan {
  bool is_creation = false;
  /// Options to set. For a creation, all that are desired; else those that have another value.
  nlohmann::json changes = nlohmann::json::object();
  /// Keys of `changes` that take effect at the next start; empty unless the runtime runs.
  std::vector<std::string> waiting = {};
  bool is_start = false;
};

/// `options` as the rows have them: text of a number or a flag as its value, one string as a list,
/// a relative path below `folder`. Null stays null.
/// Errors: invalid_argument, for options that are no JSON object and for a wrong value;
/// not_supported, for an option that a `type` lacks: the error's reason is a whole sentence.
[[nodiscard]] result<nlohmann::json> normalised(std::span<const options::option_row> rows,
                                                std::string_view type, nlohmann::json options,
                                                const std::string& folder);

/// What makes `present` equal to `desired`; without `present`, its creation. `rows` belong to the
/// desired type.
/// Errors: already_exists, when a runtime of another type has the name, and not_supported, as
/// `normalised`: the error's reason is a whole sentence.
[[nodiscard]] result<plan> plan_for(std::span<const options::option_row> rows,
                                    const desired_runtime& desired,
                                    const std::optional<present_runtime>& present);

}  // namespace strata::stack
