// Redis's conversions between replies and values of its scripts. Source: Redis's documentation of
// the Lua API, and `redis-server` 7.0 for what it leaves open.
#pragma once

#include <string>
#include <string_view>

#include "proto/resp/resp_reply.hpp"
#include "script/value_view.hpp"
#include "script/value_writer.hpp"

namespace strata::runtime::cache {

/// Writes a reply of the cache, RESP2 or RESP3, as a value: an integer as a number, null as false
/// in RESP2 and as nil in RESP3, a status as {ok = TEXT}, an error as {err = TEXT}; what only RESP3
/// has as a table of its own.
void write_script_value(script::value_writer& writer, std::string_view reply);
/// Writes an error reply of that text.
void write_script_error(script::value_writer& writer, std::string_view text);

/// Replies with what a script has returned: a number without its fraction, a list up to its first
/// nil, {ok = TEXT} and {err = TEXT} as what they stand for; true as 1 and false as null, unless
/// the script has chosen RESP3.
void reply_script_value(proto::reply_writer& reply, script::value_view value, bool chose_resp3);

/// The text of an error value, as an error reply has it: with a code first.
[[nodiscard]] std::string error_text(script::value_view value);

}  // namespace strata::runtime::cache
