// JSON that comes from outside: from a connection, a file, another program.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"

namespace strata::text {

/// Objects and arrays within each other. More than anything of ours needs, and few enough for all
/// that goes through a value by recursion: copying and writing it.
inline constexpr int deepest_json = 64;

/// The value that `text` is. Parsing does not recurse, whatever the text. `operation` says what
/// for, to follow "cannot". Errors: malformed, with the byte at which the syntax is broken, or
/// because values are nested more deeply than `deepest_json`.
[[nodiscard]] result<nlohmann::json> parse_json(std::string_view text,
                                                const std::string& operation);

/// The value on one line. Where a string of it is not UTF-8, U+FFFD is written.
[[nodiscard]] std::string write_json(const nlohmann::json& value);

}  // namespace strata::text
