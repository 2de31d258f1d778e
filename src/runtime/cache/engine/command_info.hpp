// What is told of a command: COMMAND INFO and COMMAND DOCS, from its row; which words are keys; and
// how its words are shown to others.
//
// A row's `key_uses` are key specifications, one behind the other with "; " between:
//   FLAGS BEGIN FIND
// FLAGS are Redis's ("RW access update"). BEGIN is a word's index, KEYWORD@INDEX (behind that
// keyword, looked for from there) or "?"; ?KEYWORD@INDEX is shown as "?", and of several such
// keywords the last one counts. FIND is "LAST STEP [LIMIT]" (a range, LAST counted from
// BEGIN, or from the end if negative), "nINDEX FIRST STEP" (as many as a word says) or "?".
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "proto/resp/resp_reply.hpp"
#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {

void reply_command_info(proto::reply_writer& writer, const command& command);
void reply_command_docs(proto::reply_writer& writer, const command& command);
/// Of a call whose keys `find_keys` has found: each key, and how it is used.
void reply_keys_and_flags(proto::reply_writer& reply, const command& command,
                          std::span<const std::string_view> words);
/// `category` without its "@".
[[nodiscard]] bool has_category(const command& command, std::string_view category);

/// The words of a call as MONITOR and SLOWLOG show them: without passwords. Views of `words`, which
/// must outlive them.
[[nodiscard]] std::vector<std::string_view> shown_words(const command& command,
                                                        std::span<const std::string_view> words);

}  // namespace strata::runtime::cache
