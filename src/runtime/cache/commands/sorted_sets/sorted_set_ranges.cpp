// Commands on ranges of a sorted set: by rank, by score, by member.
#include <variant>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/sorted_sets/sorted_set_words.hpp"

namespace strata::runtime::cache {

namespace {

enum class order : std::uint8_t { rank, score, member };

// The options of a range command besides the range itself.
struct range_options {
  std::optional<order> by;  // nullopt: set by an option; by default, rank
  std::optional<bool> reversed;
  bool with_scores = false;
  std::int64_t offset = 0;
  std::int64_t limit = -1;  // negative: no limit
};

// Ranks as given: the first and the last, counted from the end if negative.
struct given_ranks {
  std::int64_t first;
  std::int64_t last;
};
using given_range = std::variant<given_ranks, score_range, lex_range>;

// Reads LIMIT's two numbers behind word `index`.
bool read_limit(call& c, std::size_t index, range_options& options) {
  const auto offset = c.integer(index + 1);
  const auto limit = offset ? c.integer(index + 2) : std::nullopt;
  if (!limit) return false;
  options.offset = *offset;
  options.limit = *limit;
  return true;
}

// Reads the options from word `first` on, in addition to those that follow from the command's name.
bool read_range_options(call& c, std::size_t first, bool stores, range_options& options) {
  for (auto i = first; i < c.size(); ++i) {
    if (!stores && c.is(i, "WITHSCORES")) {
      options.with_scores = true;
    } else if (c.is(i, "LIMIT") && i + 2 < c.size()) {
      if (!read_limit(c, i, options)) return false;
      i += 2;
    } else if (!options.reversed && c.is(i, "REV")) {
      options.reversed = true;
    } else if (!options.by && c.is(i, "BYLEX")) {
      options.by = order::member;
    } else if (!options.by && c.is(i, "BYSCORE")) {
      options.by = order::score;
    } else {
      c.fail_syntax();
      return false;
    }
  }
  const auto by = options.by.value_or(order::rank);
  // In Redis a limit of -1 means no limit, and the offset is then ignored too.
  if (by == order::rank) options.offset = 0;
  if (options.limit != -1 && by == order::rank) {
    c.fail("ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX");
  } else if (options.with_scores && by == order::member) {
    c.fail("ERR syntax error, WITHSCORES not supported in combination with BYLEX");
  }
  return !c.has_failed();
}

template <class Range>
std::optional<given_range> as_given(const std::optional<Range>& range) {
  if (!range) return {};
  return *range;
}

// Reads the words at `first` and behind it. A reversed range of scores or members begins at its
// top.
std::optional<given_range> read_range(call& c, std::size_t first, order order, bool reversed) {
  const auto low = reversed ? first + 1 : first;
  const auto high = reversed ? first : first + 1;
  if (order == order::score) return as_given(read_score_range(c, low, high));
  if (order == order::member) return as_given(read_lex_range(c, low, high));
  const auto from = c.integer(first);
  const auto to = from ? c.integer(first + 1) : std::nullopt;
  if (!to) return {};
  return given_ranks{*from, *to};
}

index_range find_range(const sorted_set& set, const given_range& range, bool reversed) {
  if (const auto* const ranks = std::get_if<given_ranks>(&range)) {
    auto found = clamp_range(ranks->first, ranks->last, set.size());
    if (reversed) found.first = set.size() - found.first - found.count;
    return found;
  }
  if (const auto* const scores = std::get_if<score_range>(&range)) return set.ranks_of(*scores);
  return set.ranks_of(std::get<lex_range>(range));
}

// Applies LIMIT to a range that is traversed in that direction.
index_range limited(index_range range, const range_options& options, bool reversed) {
  const auto skipped = options.offset < 0
                           ? range.count
                           : std::min(static_cast<std::size_t>(options.offset), range.count);
  range.count -= skipped;
  if (!reversed) range.first += skipped;
  if (options.limit >= 0 && static_cast<std::size_t>(options.limit) < range.count) {
    if (reversed) range.first += range.count - static_cast<std::size_t>(options.limit);
    range.count = static_cast<std::size_t>(options.limit);
  }
  return range;
}

// Copies the range to a new set. As in Redis, the set has the large form from the start if its
// final size is known to require it, which only a range of ranks shows: a pack does not keep the
// sign of a zero.
std::unique_ptr<sorted_set> copy_range(const call& c, const sorted_set* set, index_range ranks,
                                       bool reversed, bool by_rank) {
  const auto limits = limits_of_sorted_sets(c);
  const bool is_large = by_rank && static_cast<std::int64_t>(ranks.count) > limits.entries;
  auto made =
      is_large ? std::make_unique<sorted_set>(member_table()) : std::make_unique<sorted_set>();
  if (set == nullptr) return made;
  set->visit(ranks, reversed,
             [&](std::string_view member, double score) { made->add(member, score, limits); });
  return made;
}

// Replies with or stores the range of the set at word `key`, whose ends are the two words behind
// it.
void give_range(call& c, std::size_t key, range_options options, bool stores = false) {
  if (!read_range_options(c, key + 3, stores, options)) return;
  const bool reversed = options.reversed.value_or(false);
  const auto range = read_range(c, key + 1, options.by.value_or(order::rank), reversed);
  if (!range) return;
  const auto found = c.read_as<sorted_set>(key);
  if (!found) return;
  const sorted_set* const set = *found;
  const auto ranks = set == nullptr
                         ? index_range{}
                         : limited(find_range(*set, *range, reversed), options, reversed);
  if (stores) {
    const bool by_rank = std::holds_alternative<given_ranks>(*range);
    store_sorted_set(c, copy_range(c, set, ranks, reversed, by_rank), "zrangestore");
    return;
  }
  begin_members(c, ranks.count, options.with_scores);
  if (set == nullptr) return;
  set->visit(ranks, reversed, [&](std::string_view member, double score) {
    reply_member(c, options.with_scores, member, score);
  });
}

void zrange(call& c) { give_range(c, 1, {}); }
void zrangestore(call& c) { give_range(c, 2, {}, true); }
void zrevrange(call& c) { give_range(c, 1, {.by = order::rank, .reversed = true}); }
void zrangebyscore(call& c) { give_range(c, 1, {.by = order::score, .reversed = false}); }
void zrevrangebyscore(call& c) { give_range(c, 1, {.by = order::score, .reversed = true}); }
void zrangebylex(call& c) { give_range(c, 1, {.by = order::member, .reversed = false}); }
void zrevrangebylex(call& c) { give_range(c, 1, {.by = order::member, .reversed = true}); }

void remove_range(call& c, order order, std::string_view event) {
  const auto range = read_range(c, 2, order, false);
  if (!range) return;
  const auto found = c.find_as<sorted_set>(1);
  if (!found) return;
  index_range ranks;
  if (*found != nullptr) {
    ranks = find_range(**found, *range, false);
    (*found)->erase_ranks(ranks);
  }
  if (ranks.count != 0) {
    c.changed(c[1], event_zset, event, ranks.count);
    c.drop_if_empty(1, **found);
  }
  c.reply.integer(static_cast<std::int64_t>(ranks.count));
}

void zremrangebyrank(call& c) { remove_range(c, order::rank, "zremrangebyrank"); }
void zremrangebyscore(call& c) { remove_range(c, order::score, "zremrangebyscore"); }
void zremrangebylex(call& c) { remove_range(c, order::member, "zremrangebylex"); }

// clang-format off
const command_row sorted_set_range_rows[] = {
    {"zrange", -4, "readonly", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "1.2.0",
     "returns members within a rank, score or lexicographical range", zrange},
    {"zrangebylex", -4, "readonly", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "2.8.9",
     "returns members within a lexicographical range", zrangebylex},
    {"zrangebyscore", -4, "readonly", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "1.0.5",
     "returns members within a score range", zrangebyscore},
    {"zrangestore", -5, "write denyoom", {1, 2, 1},
     "OW update 1 0 1; RO access 2 0 1", "sortedset", "6.2.0",
     "stores members within a rank, score or lexicographical range", zrangestore},
    {"zremrangebylex", 4, "write", {1, 1, 1},
     "RW delete 1 0 1", "sortedset", "2.8.9",
     "removes members within a lexicographical range", zremrangebylex},
    {"zremrangebyrank", 4, "write", {1, 1, 1},
     "RW delete 1 0 1", "sortedset", "2.0.0",
     "removes members within a rank range", zremrangebyrank},
    {"zremrangebyscore", 4, "write", {1, 1, 1},
     "RW delete 1 0 1", "sortedset", "1.2.0",
     "removes members within a score range", zremrangebyscore},
    {"zrevrange", -4, "readonly", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "1.2.0",
     "returns members within a rank range, highest score first", zrevrange},
    {"zrevrangebylex", -4, "readonly", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "2.8.9",
     "returns members within a lexicographical range, last member first", zrevrangebylex},
    {"zrevrangebyscore", -4, "readonly", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "2.2.0",
     "returns members within a score range, highest score first", zrevrangebyscore},
};
// clang-format on

}  // namespace

command_group sorted_set_range_commands() { return {"sorted-set", sorted_set_range_rows}; }

}  // namespace strata::runtime::cache
