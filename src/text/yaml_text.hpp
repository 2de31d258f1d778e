// JSON as YAML 1.2, for people to read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace strata::text {

/// Formats `value` as a YAML document of at most 100 columns where its words allow it: short
/// objects and arrays on one line, long texts folded. Keys keep their order.
[[nodiscard]] std::string to_yaml(const nlohmann::ordered_json& value);

}  // namespace strata::text
