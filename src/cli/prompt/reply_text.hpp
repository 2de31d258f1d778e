// What a cache replies, as a person reads it, and as a program does: both as redis-cli writes it.
#pragma once

#include <string>
#include <string_view>

#include "proto/resp/resp_value.hpp"

namespace strata::cli {

/// `(integer) 1`, `"bulk"`, `1) "a"`, `1# "key" => "value"`, `(nil)`, `(error) …`; without a line
/// end behind it. What strangers have stored cannot move the terminal's cursor.
[[nodiscard]] std::string pretty_reply(const proto::resp_value& reply);

/// The strings' own bytes, elements on lines of their own; without a line end behind it.
[[nodiscard]] std::string raw_reply(const proto::resp_value& reply);

}  // namespace strata::cli
