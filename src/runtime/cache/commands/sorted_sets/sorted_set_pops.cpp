// Commands that take the lowest or highest members of sorted sets, or wait for members.
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/pops.hpp"
#include "runtime/cache/commands/sorted_sets/sorted_set_words.hpp"

namespace strata::runtime::cache {

namespace {

using found_set = first_found<sorted_set>;

// Takes `count` members, which must exist; calls `reply(member, score)` for each.
template <class Reply>
void take(call& c, const found_set& source, bool highest, std::uint64_t count, Reply&& reply) {
  sorted_set& set = *source.value;
  const index_range ranks = {highest ? set.size() - count : 0, count};
  set.visit(ranks, highest, reply);
  set.erase_ranks(ranks);
  c.changed(c[source.index], event_zset, highest ? "zpopmax" : "zpopmin", count);
  c.drop_if_empty(source.index, set);
}

std::string_view name_of_pop(bool highest) { return highest ? "ZPOPMAX" : "ZPOPMIN"; }

// --- of one set

void pop(call& c, bool highest) {
  if (c.size() > 3) {
    c.fail_syntax();
    return;
  }
  const bool has_count = c.size() == 3;
  const auto count = has_count ? text::parse_integer(c[2]) : std::optional<std::int64_t>(1);
  if (!count || *count < 0) {
    c.fail("ERR value is out of range, must be positive");
    return;
  }
  const auto found = c.find_as<sorted_set>(1);
  if (!found) return;
  if (*found == nullptr || *count == 0) {
    c.reply.array(0);
    return;
  }
  const auto taken = std::min(static_cast<std::size_t>(*count), (*found)->size());
  // In RESP3, members are in pairs if there may be several.
  const bool in_pairs = has_count && c.reply.is_resp3();
  c.reply.array(in_pairs ? taken : taken * 2);
  take(c, {1, *found}, highest, taken, [&](std::string_view member, double score) {
    if (in_pairs) c.reply.array(2);
    c.reply.bulk(member);
    c.reply.real(score);
  });
}

void zpopmin(call& c) { pop(c, false); }
void zpopmax(call& c) { pop(c, true); }

// --- of the first that has some

void pop_or_wait(call& c, bool highest) {
  std::optional<std::int64_t> deadline_ms;
  if (!c.parse_timeout(c.size() - 1, deadline_ms)) return;
  const auto keys = c.size() - 2;
  const auto found = find_first<sorted_set>(c, 1, keys);
  if (!found) return;
  if (found->value == nullptr) {
    wait_or_null(c, 1, keys, deadline_ms);
    return;
  }
  c.reply.array(3);
  c.reply.bulk(c[found->index]);
  take(c, *found, highest, 1, [&](std::string_view member, double score) {
    c.reply.bulk(member);
    c.reply.real(score);
  });
  c.propagate_as(name_of_pop(highest), c[found->index]);
}

void bzpopmin(call& c) { pop_or_wait(c, false); }
void bzpopmax(call& c) { pop_or_wait(c, true); }

// Returns false if all are empty.
bool pop_many(call& c, const multi_pop& pop, std::size_t first) {
  const auto found = find_first<sorted_set>(c, first, pop.keys);
  if (!found) return true;
  if (found->value == nullptr) return false;
  const auto key = c[found->index];
  const auto count = std::min(static_cast<std::size_t>(pop.count), found->value->size());
  c.reply.array(2);
  c.reply.bulk(key);
  c.reply.array(count);
  take(c, *found, !pop.at_first_end, count, [&](std::string_view member, double score) {
    c.reply.array(2);
    c.reply.bulk(member);
    c.reply.real(score);
  });
  c.propagate_as(name_of_pop(!pop.at_first_end), key,
                 text::integer_text(static_cast<std::int64_t>(count)).view());
  return true;
}

void zmpop(call& c) {
  const auto how = read_multi_pop(c, 1, "MIN", "MAX");
  if (how && !pop_many(c, *how, 2)) c.reply.null_array();
}

void bzmpop(call& c) {
  const auto how = read_multi_pop(c, 2, "MIN", "MAX");
  std::optional<std::int64_t> deadline_ms;
  if (!how || !c.parse_timeout(1, deadline_ms)) return;
  if (!pop_many(c, *how, 3)) wait_or_null(c, 3, how->keys, deadline_ms);
}

// clang-format off
const command_row sorted_set_pop_rows[] = {
    {"bzmpop", -5, "write blocking movablekeys", {0, 0, 0},
     "RW access delete 2 n0 1 1", "sortedset blocking", "7.0.0",
     "removes and returns members of the first nonempty sorted set; waits if all are empty",
     bzmpop},
    {"bzpopmax", -3, "write noscript blocking fast", {1, -2, 1},
     "RW access delete 1 -2 1", "sortedset blocking", "5.0.0",
     "removes and returns the member with the highest score; waits if all sets are empty",
     bzpopmax},
    {"bzpopmin", -3, "write noscript blocking fast", {1, -2, 1},
     "RW access delete 1 -2 1", "sortedset blocking", "5.0.0",
     "removes and returns the member with the lowest score; waits if all sets are empty", bzpopmin},
    {"zmpop", -4, "write movablekeys", {0, 0, 0},
     "RW access delete 1 n0 1 1", "sortedset", "7.0.0",
     "removes and returns members of the first nonempty sorted set", zmpop},
    {"zpopmax", -2, "write fast", {1, 1, 1},
     "RW access delete 1 0 1", "sortedset", "5.0.0",
     "removes and returns the members with the highest scores", zpopmax},
    {"zpopmin", -2, "write fast", {1, 1, 1},
     "RW access delete 1 0 1", "sortedset", "5.0.0",
     "removes and returns the members with the lowest scores", zpopmin},
};
// clang-format on

}  // namespace

command_group sorted_set_pop_commands() { return {"sorted-set", sorted_set_pop_rows}; }

}  // namespace strata::runtime::cache
