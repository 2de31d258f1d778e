// Labels: texts KEY=VALUE by which people, stacks and scripts select runtimes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "strata/base/result.hpp"

namespace strata::runtime {

/// Checks that each label is KEY=VALUE, and that no key occurs twice. A key has 1 to 63 letters,
/// digits, `.`, `_`, `-` and `/`, and begins with a letter or a digit; a value has at most 255 of
/// these, or is empty. Errors: invalid_argument, naming the label.
[[nodiscard]] result<void> check_labels(std::span<const std::string> labels);

/// Returns checked labels as an object: `{"app": "shop"}`.
[[nodiscard]] nlohmann::json labels_json(std::span<const std::string> labels);

}  // namespace strata::runtime
