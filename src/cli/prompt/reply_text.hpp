// A cache's reply for people, and for programs: both in redis-cli's formats.
#pragma once

#include <string>
#include <string_view>

#include "proto/resp/resp_value.hpp"

namespace strata::cli {

/// `(integer) 1`, `"bulk"`, `1) "a"`, `1# "key" => "value"`, `(nil)`, `(error) …`; without a final
/// line end. Stored data cannot move the terminal's cursor.
[[nodiscard]] std::string pretty_reply(const proto::resp_value& reply);

/// The strings' own bytes, elements on lines of their own; without a final line end.
[[nodiscard]] std::string raw_reply(const proto::resp_value& reply);

}  // namespace strata::cli
