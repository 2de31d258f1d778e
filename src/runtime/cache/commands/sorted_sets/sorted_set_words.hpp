// The common part of commands on sorted sets: ranges in their arguments, and members in their
// replies.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/values/sorted_set.hpp"

namespace strata::runtime::cache {

[[nodiscard]] sorted_set_limits limits_of_sorted_sets(const call& c);

/// Reads the words at `least` and `most` as a range of scores: "1.5", "(1.5" without the end
/// itself, "-inf". Replies with an error and returns nullopt if one is invalid.
[[nodiscard]] std::optional<score_range> read_score_range(call& c, std::size_t least,
                                                          std::size_t most);
/// As `read_score_range`, for members: "[a", "(a", "-", "+".
[[nodiscard]] std::optional<lex_range> read_lex_range(call& c, std::size_t least, std::size_t most);

/// Writes the header of a reply of `count` members.
void begin_members(call& c, std::size_t count, bool with_scores);
inline void reply_member(call& c, bool with_scores, std::string_view member, double score) {
  if (with_scores && c.reply.is_resp3()) c.reply.array(2);
  c.reply.bulk(member);
  if (with_scores) c.reply.real(score);
}

/// Stores `set` at the key at word 1, or removes the key if `set` is empty; replies with the size.
void store_sorted_set(call& c, std::unique_ptr<sorted_set> set, std::string_view event);

}  // namespace strata::runtime::cache
