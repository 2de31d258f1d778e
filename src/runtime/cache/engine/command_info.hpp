// Information on a command: COMMAND INFO and COMMAND DOCS, from its row; which words are keys; and
// how its words are shown to others.
//
// A row's `key_uses` are key specifications, separated by "; ":
//   FLAGS BEGIN FIND
// FLAGS are Redis's ("RW access update"). BEGIN is a word's index, KEYWORD@INDEX (behind that
// keyword, which is searched from there) or "?"; ?KEYWORD@INDEX is shown as "?", and if the keyword
// occurs several times, the last one counts. FIND is "LAST STEP [LIMIT]" (a range, LAST counted
// from BEGIN, or from the end if negative), "nINDEX FIRST STEP" (the number is in a word) or "?".
#pragma once

#include <boost/container/small_vector.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "proto/resp/resp_reply.hpp"
#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {

/// Both leave out the subcommands of versions of Redis later than `version`.
void reply_command_info(proto::reply_writer& writer, const command& command, unsigned version);
void reply_command_docs(proto::reply_writer& writer, const command& command, unsigned version);
/// Reports whether calls of the command may have keys: channels are none.
[[nodiscard]] bool may_have_keys(const command& command);
/// Reports whether a call is too short for one of the keys that its command always has.
[[nodiscard]] bool lacks_key(const command& command, std::span<const std::string_view> words);
/// Replies with each key of a call, and how it is used. `find_keys` must have found its keys.
void reply_keys_and_flags(proto::reply_writer& reply, const command& command,
                          std::span<const std::string_view> words);
/// How a call uses one of its keys. It may do neither, as EXISTS does.
struct key_access {
  std::size_t position;  ///< among the words
  bool reads;            ///< returns or copies the value
  bool writes;           ///< inserts, changes or deletes it
};
using key_accesses = boost::container::small_vector<key_access, 8>;
/// Returns the keys of a call; none if they do not follow from the words.
[[nodiscard]] key_accesses find_key_accesses(const command& command,
                                             std::span<const std::string_view> words);

/// `category` is without its "@".
[[nodiscard]] bool has_category(const command& command, std::string_view category);

/// Returns the words of a call for MONITOR and SLOWLOG: without passwords. Views of `words`, which
/// must outlive them.
[[nodiscard]] std::vector<std::string_view> shown_words(const command& command,
                                                        std::span<const std::string_view> words);

}  // namespace strata::runtime::cache
