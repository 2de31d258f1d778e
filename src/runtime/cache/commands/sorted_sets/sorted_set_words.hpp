// What the commands on sorted sets share: ranges as they give them, and how they reply members.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/values/sorted_set.hpp"

namespace strata::runtime::cache {

[[nodiscard]] sorted_set_limits limits_of_sorted_sets(const call& c);

/// The words at `least` and `most` as a range of scores: "1.5", "(1.5" without the end itself,
/// "-inf". Nothing, and the error replied, when one is none.
[[nodiscard]] std::optional<score_range> read_score_range(call& c, std::size_t least,
                                                          std::size_t most);
/// The same for members: "[a", "(a", "-", "+".
[[nodiscard]] std::optional<lex_range> read_lex_range(call& c, std::size_t least, std::size_t most);

/// The head of a reply of `count` members.
void begin_members(call& c, std::size_t count, bool with_scores);
inline void reply_member(call& c, bool with_scores, std::string_view member, double score) {
  if (with_scores && c.reply.is_resp3()) c.reply.array(2);
  c.reply.bulk(member);
  if (with_scores) c.reply.real(score);
}

/// Makes the key at word 1 hold `set`, or nothing if that is empty; replies the size.
void store_sorted_set(call& c, std::unique_ptr<sorted_set> set, std::string_view event);

}  // namespace strata::runtime::cache
