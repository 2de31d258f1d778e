// Commands on the members of one sorted set.
#include <boost/container/small_vector.hpp>
#include <cmath>

#include "runtime/cache/commands/collections.hpp"
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/sorted_sets/sorted_set_words.hpp"

namespace strata::runtime::cache {

namespace {

struct add_options {
  bool if_absent = false;
  bool if_present = false;
  bool if_greater = false;
  bool if_less = false;
  bool counts_changes = false;
  bool increments = false;
  std::size_t first = 2;  // the word with the first score
};

add_options read_add_options(const call& c) {
  add_options read;
  for (; read.first < c.size(); ++read.first) {
    if (c.is(read.first, "NX")) {
      read.if_absent = true;
    } else if (c.is(read.first, "XX")) {
      read.if_present = true;
    } else if (c.is(read.first, "GT")) {
      read.if_greater = true;
    } else if (c.is(read.first, "LT")) {
      read.if_less = true;
    } else if (c.is(read.first, "CH")) {
      read.counts_changes = true;
    } else if (c.is(read.first, "INCR")) {
      read.increments = true;
    } else {
      break;
    }
  }
  return read;
}

// Checks that the options are compatible with each other, and with the following words.
bool check_add_options(call& c, const add_options& options) {
  const auto words = c.size() - options.first;
  if (words == 0 || words % 2 != 0) {
    c.fail_syntax();
  } else if (options.if_absent && options.if_present) {
    c.fail("ERR XX and NX options at the same time are not compatible");
  } else if ((options.if_absent && (options.if_greater || options.if_less)) ||
             (options.if_greater && options.if_less)) {
    c.fail("ERR GT, LT, and/or NX options at the same time are not compatible");
  } else if (options.increments && words != 2) {
    c.fail("ERR INCR option supports a single increment-element pair");
  }
  return !c.has_failed();
}

// Returns the new score of a member with the score `before`; nullopt if it does not change.
std::optional<double> next_score(const add_options& options, std::optional<double> before,
                                 double value) {
  if (!before) return options.if_present ? std::nullopt : std::optional(value);
  if (options.if_absent) return {};
  const double after = options.increments ? *before + value : value;
  if ((options.if_greater && after <= *before) || (options.if_less && after >= *before)) return {};
  return after;
}

// Adds the scores and members from word `options.first` on.
void add_members(call& c, const add_options& options) {
  // An invalid score further on must leave the set unchanged.
  boost::container::small_vector<double, 16> scores;
  for (auto i = options.first; i < c.size(); i += 2) {
    const auto score = c.real(i);
    if (!score) return;
    scores.push_back(*score);
  }
  const auto found =
      options.if_present ? c.find_as<sorted_set>(1) : std::optional(c.make_as<sorted_set>(1));
  if (c.has_failed()) return;
  sorted_set* const set = *found;
  std::uint64_t added = 0;
  std::uint64_t updated = 0;
  std::optional<double> last;
  const auto limits = limits_of_sorted_sets(c);
  for (std::size_t i = 0; set != nullptr && i < scores.size(); ++i) {
    const auto member = c[options.first + i * 2 + 1];
    const auto where = set->find(member);
    last = next_score(options, where.score(), scores[i]);
    if (!last) continue;
    if (std::isnan(*last)) {
      c.fail("ERR resulting score is not a number (NaN)");
      return;
    }
    added += where.is_there() ? 0 : 1;
    updated += where.is_there() && *last != *where.score() ? 1 : 0;
    set->put(where, member, *last, limits);
  }
  if (!options.increments) {
    c.reply.integer(static_cast<std::int64_t>(options.counts_changes ? added + updated : added));
  } else if (last) {
    c.reply.real(*last);
  } else {
    c.reply.null();
  }
  if (added + updated != 0) {
    c.changed(c[1], event_zset, options.increments ? "zincr" : "zadd", added + updated);
  }
}

void zadd(call& c) {
  const auto how = read_add_options(c);
  if (check_add_options(c, how)) add_members(c, how);
}

void zincrby(call& c) { add_members(c, {.increments = true}); }

void zrem(call& c) { erase_members<sorted_set>(c, event_zset, "zrem"); }
void zcard(call& c) { reply_size<sorted_set>(c); }

void reply_score(call& c, const sorted_set* set, std::string_view member) {
  const auto score = set == nullptr ? std::nullopt : set->score_of(member);
  if (score) {
    c.reply.real(*score);
  } else {
    c.reply.null();
  }
}

void zscore(call& c) {
  if (const auto found = c.read_as<sorted_set>(1)) reply_score(c, *found, c[2]);
}

void zmscore(call& c) {
  const auto found = c.read_as<sorted_set>(1);
  if (!found) return;
  c.reply.array(c.size() - 2);
  for (const auto& each : c.words.subspan(2)) reply_score(c, *found, each);
}

// WITHSCORE is of Redis 7.2.
void reply_rank(call& c, bool reversed) {
  const bool with_score = c.size() == 4;
  if (c.size() > 4 || (with_score && !c.knows(version_7_2))) {
    c.fail_arity();
    return;
  }
  if (with_score && !c.is(3, "WITHSCORE")) {
    c.fail_syntax();
    return;
  }
  const auto found = c.read_as<sorted_set>(1);
  if (!found) return;
  const auto rank = *found == nullptr ? std::nullopt : (*found)->rank_of(c[2]);
  if (!rank) {
    if (with_score) {
      c.reply.null_array();
    } else {
      c.reply.null();
    }
    return;
  }
  if (with_score) c.reply.array(2);
  c.reply.integer(static_cast<std::int64_t>(reversed ? (*found)->size() - 1 - *rank : *rank));
  if (with_score) reply_score(c, *found, c[2]);
}

void zrank(call& c) { reply_rank(c, false); }
void zrevrank(call& c) { reply_rank(c, true); }

template <class Range>
void reply_count(call& c, const std::optional<Range>& range) {
  if (!range) return;
  const auto found = c.read_as<sorted_set>(1);
  if (!found) return;
  c.reply.integer(*found == nullptr ? 0
                                    : static_cast<std::int64_t>((*found)->ranks_of(*range).count));
}

void zcount(call& c) { reply_count(c, read_score_range(c, 2, 3)); }
void zlexcount(call& c) { reply_count(c, read_lex_range(c, 2, 3)); }

// --- any members

void reply_random(call& c, const sorted_set& set, std::int64_t count, bool with_scores) {
  const auto reply = [&](std::string_view member, double score) {
    reply_member(c, with_scores, member, score);
  };
  if (count < 0) {
    const auto wanted = static_cast<std::uint64_t>(-count);
    begin_members(c, wanted, with_scores);
    for (std::uint64_t i = 0; i < wanted; ++i) set.with_random(c.keys().random(), reply);
    return;
  }
  const auto all = static_cast<std::uint64_t>(set.size());
  auto wanted = std::min(static_cast<std::uint64_t>(count), all);
  begin_members(c, wanted, with_scores);
  // Selects from all members in one pass (Knuth's selection sampling).
  auto left = all;
  set.visit({0, all}, true, [&](std::string_view member, double score) {
    if (wanted != 0 && c.keys().random()() % left < wanted) {
      reply(member, score);
      --wanted;
    }
    --left;
  });
}

// Reads the count of ZRANDMEMBER, and the optional WITHSCORES. Returns nullopt after an error.
std::optional<std::int64_t> read_random_count(call& c) {
  const auto count = c.integer(2);
  if (!count) return {};
  if (*count == INT64_MIN) {
    c.fail(
        "ERR value is out of range, value must between -9223372036854775807 and "
        "9223372036854775807");
    return {};
  }
  if (c.size() == 3) return count;
  if (c.size() > 4 || !c.is(3, "WITHSCORES")) {
    c.fail_syntax();
    return {};
  }
  if (*count < -INT64_MAX / 2 || *count > INT64_MAX / 2) {
    c.fail("ERR value is out of range");
    return {};
  }
  return count;
}

void zrandmember(call& c) {
  const bool is_one = c.size() == 2;
  const auto count = is_one ? std::optional<std::int64_t>(1) : read_random_count(c);
  if (!count) return;
  const auto found = c.read_as<sorted_set>(1);
  if (!found) return;
  if (is_one && *found != nullptr) {
    (*found)->with_random(c.keys().random(),
                          [&](std::string_view member, double) { c.reply.bulk(member); });
  } else if (is_one) {
    c.reply.null();
  } else if (*found == nullptr || *count == 0) {
    c.reply.array(0);
  } else {
    reply_random(c, **found, *count, c.size() == 4);
  }
}

void zscan(call& c) {
  scan_members<sorted_set>(
      c, [](const sorted_set& set, double score) { return set.score_as_kept(score); });
}

// clang-format off
const command_row sorted_set_rows[] = {
    {"zadd", -4, "write denyoom fast", {1, 1, 1},
     "RW update 1 0 1", "sortedset", "1.2.0",
     "adds members or updates their scores", zadd},
    {"zcard", 2, "readonly fast", {1, 1, 1},
     "RO 1 0 1", "sortedset", "1.2.0",
     "returns the number of members of a sorted set", zcard},
    {"zcount", 4, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "2.0.0",
     "counts the members within a score range", zcount},
    {"zincrby", 4, "write denyoom fast", {1, 1, 1},
     "RW access update 1 0 1", "sortedset", "1.2.0",
     "adds a number to the score of a member", zincrby},
    {"zlexcount", 4, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "2.8.9",
     "counts the members within a lexicographical range", zlexcount},
    {"zmscore", -3, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "6.2.0",
     "returns the scores of several members", zmscore},
    {"zrandmember", -2, "readonly", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "6.2.0",
     "returns random members of a sorted set without removing them", zrandmember},
    {"zrank", -3, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "2.0.0",
     "returns the rank of a member, counted from the lowest score", zrank,
     {}, 0, {3, version_7_2}},
    {"zrem", -3, "write fast", {1, 1, 1},
     "RW delete 1 0 1", "sortedset", "1.2.0",
     "removes members from a sorted set", zrem},
    {"zrevrank", -3, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "2.0.0",
     "returns the rank of a member, counted from the highest score", zrevrank,
     {}, 0, {3, version_7_2}},
    {"zscan", -3, "readonly", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "2.8.0",
     "iterates over the members of a sorted set", zscan},
    {"zscore", 3, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "sortedset", "1.2.0",
     "returns the score of a member", zscore},
};
// clang-format on

}  // namespace

command_group sorted_set_commands() { return {"sorted-set", sorted_set_rows}; }

}  // namespace strata::runtime::cache
