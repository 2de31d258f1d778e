// The text of an ACL file: a line "user NAME RULES" for each user. Source: "ACL", redis.io.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/cache/engine/users/user.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::cache {

/// Reports whether it can be the name of a user.
[[nodiscard]] bool is_user_name(std::string_view name);
/// Returns the name in "NAME RULES". A view of `text`.
[[nodiscard]] std::string_view user_name_in(std::string_view text);
/// Parses "NAME RULES". Errors: the reason says what is wrong.
[[nodiscard]] result<user> parse_user(std::string_view text, channel_default channels);
/// Parses the text of a file. Empty lines, and those that begin with "#", mean nothing. `file`
/// names it in errors. Errors: the reason names each wrong line, in Redis's words.
[[nodiscard]] result<std::vector<user>> parse_acl(std::string_view text, std::string_view file,
                                                  channel_default channels);

}  // namespace strata::runtime::cache
