// JSON from outside: from a connection, a file, another program.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"

namespace strata::text {

/// The limit for nested objects and arrays. More than our own JSON needs, and few enough for code
/// that processes a value recursively: copying and writing.
inline constexpr int deepest_json = 64;

/// Parses `text`, without recursion, whatever the text. `operation` is the purpose, to follow
/// "cannot". Errors: malformed, with the offset of the syntax error, or because values are nested
/// more deeply than `deepest_json`.
[[nodiscard]] result<nlohmann::json> parse_json(std::string_view text,
                                                const std::string& operation);

/// Returns the value on one line. U+FFFD replaces parts of strings that are not UTF-8.
[[nodiscard]] std::string write_json(const nlohmann::json& value);

}  // namespace strata::text
