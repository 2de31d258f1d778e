// XREAD and XREADGROUP: the entries behind an id, of several streams; they can wait for entries.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/streams/reading_words.hpp"
#include "runtime/cache/commands/streams/stream_group_words.hpp"

namespace strata::runtime::cache {

namespace {

// The most entries that a client gets after a wait without COUNT.
constexpr std::uint64_t most_after_wait = 1000;

std::uint64_t limit_after_wait(const reading_words& words) {
  return words.count == 0 ? most_after_wait : words.count;
}

// One of the streams to read. For a group, the highest id stands for ">": the entries that are new
// to the group.
struct reading {
  std::string_view key;
  stream_id after;
  stream_value* stream = nullptr;
  stream_group* group = nullptr;
  bool is_served = false;
  bool is_history = false;
  std::vector<stream_id> claimed = {};  // pending entries to read before the new ones
};

// --- claiming

bool is_claimable(const call& c, const reading& reading, stream_id id, const reading_words& words) {
  const auto& pending = reading.group->pending();
  const auto place = pending.find(id);
  return place != pending.end() && is_idle_for(c, place->second, *words.claim_idle_ms) &&
         reading.stream->contains(id);
}

// Finds the pending entries that CLAIM takes over, those that are idle for longest first.
std::vector<stream_id> find_claimable(const call& c, const reading& reading,
                                      const reading_words& words, std::uint64_t limit) {
  using idle_entry = std::pair<std::int64_t, stream_id>;
  std::vector<idle_entry> idle;
  for (const auto& [id, entry] : reading.group->pending()) {
    if (is_idle_for(c, entry, *words.claim_idle_ms)) idle.emplace_back(entry.delivered_ms, id);
  }
  std::ranges::make_heap(idle, std::greater());
  std::vector<stream_id> found;
  while (!idle.empty() && found.size() < limit) {
    std::ranges::pop_heap(idle, std::greater());
    if (reading.stream->contains(idle.back().second)) found.push_back(idle.back().second);
    idle.pop_back();
  }
  return found;
}

// Has a waiting client served again when the first pending entry can be claimed: one that is
// pending already, or one that another consumer reads from now on.
void retry_claiming(call& c, const reading_words& words) {
  constexpr std::int64_t least_delay_ms = 100;
  auto delay_ms = *words.claim_idle_ms;
  for (std::size_t i = 0; i < words.keys; ++i) {
    const auto key = words.first_key + i;
    const entry* const there = c.keys().find(c.who.database, c[key], c.hash(key));
    if (there == nullptr || there->type() != value_kind::stream) continue;
    auto& stream = there->as<stream_value>();
    const auto* const group = stream.find_group(c[words.group_index]);
    if (group == nullptr) continue;
    for (const auto& [id, entry] : group->pending()) {
      const auto idle_ms = std::max<std::int64_t>(elapsed_ms(c.now_ms(), entry.delivered_ms), 0);
      const auto left_ms = *words.claim_idle_ms - idle_ms;
      if (left_ms < delay_ms && stream.contains(id)) delay_ms = left_ms;
    }
  }
  std::int64_t at_ms = 0;
  if (!__builtin_add_overflow(std::max(delay_ms, least_delay_ms), c.now_ms(), &at_ms)) {
    c.retry_at(at_ms);
  }
}

// Reads the id at word `index`, for `reading`. Returns false after an error.
bool read_position(call& c, std::size_t index, bool in_group, reading& reading) {
  const auto word = before_nul(c[index]);
  if (word == "$") {
    if (in_group) {
      c.fail(
          "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history "
          "of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ "
          "ID would just return an empty result set.");
      return false;
    }
    if (reading.stream != nullptr) reading.after = reading.stream->last_id;
    return true;
  }
  // The last entry, of Redis 7.4; without one, the entries that will come.
  if (word == "+" && !in_group && c.knows(version_7_4)) {
    if (reading.stream == nullptr) return true;
    const auto last = reading.stream->end_id(false);
    reading.after = last ? last->previous().value_or(*last) : reading.stream->last_id;
    return true;
  }
  if (word == ">") {
    if (!in_group) {
      c.fail(
          "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> "
          "<consumer> option.");
      return false;
    }
    reading.after = stream_id::highest();
    return true;
  }
  const auto id = read_stream_id(c, index);
  if (id) reading.after = *id;
  return id.has_value();
}

std::optional<std::vector<reading>> find_readings(call& c, const reading_words& words) {
  std::vector<reading> readings;
  for (std::size_t i = 0; i < words.keys; ++i) {
    const auto key_index = words.first_key + i;
    const auto stream = c.read_as<stream_value>(key_index);
    if (!stream) return {};
    auto& made = readings.emplace_back(reading{.key = c[key_index], .stream = *stream});
    if (words.in_group) {
      const auto name = c[words.group_index];
      if (*stream != nullptr) made.group = (*stream)->find_group(name);
      if (made.group == nullptr) {
        c.fail(
            fmt::format("NOGROUP No such key '{}' or consumer group '{}' in XREADGROUP with "
                        "GROUP option",
                        before_nul(made.key), before_nul(name)));
        return {};
      }
    }
    if (!read_position(c, key_index + words.keys, words.in_group, made)) return {};
  }
  return readings;
}

// Returns the id of the last of the next `limit` entries behind `after`.
stream_id end_of_reading(const stream_value& stream, stream_id after, std::uint64_t limit) {
  stream_cursor cursor(stream, after.next().value_or(after), stream_id::highest(), false);
  for (; limit != 0 && cursor.next(); --limit) after = cursor.entry().id;
  return after;
}

// Determines which of the streams have entries for the client. A stream that is named twice is read
// on from where it was read before.
void choose_served(const call& c, std::vector<reading>& readings, const reading_words& words) {
  for (auto& each : readings) {
    if (each.stream == nullptr) continue;
    if (each.group != nullptr && each.after != stream_id::highest()) {
      each.is_served = each.is_history = true;
      continue;
    }
    if (each.group != nullptr) {
      each.after = each.group->last_id;
      if (words.claim_idle_ms) each.claimed = find_claimable(c, each, words, words.limit());
      for (const auto& other : readings) {
        if (&other == &each) break;
        if (other.group != each.group || !other.is_served || other.is_history) continue;
        each.after =
            end_of_reading(*each.stream, other.after, words.limit() - other.claimed.size());
      }
    }
    const auto last = each.stream->end_id(false);
    each.is_served = !each.claimed.empty() || (last && *last > each.after);
  }
}

// --- replies

// The consumer's own pending entries behind an id.
void reply_history(call& c, const reading& reading, stream_consumer& consumer,
                   std::uint64_t limit) {
  std::vector<stream_id> ids;
  auto at = consumer.pending.upper_bound(reading.after);
  for (; at != consumer.pending.end() && ids.size() < limit; ++at) ids.push_back(*at);
  c.reply.array(ids.size());
  for (const auto& id : ids) {
    if (!reply_one_entry(c, *reading.stream, id)) {
      c.reply.array(2);
      reply_stream_id(c, id);
      c.reply.null_array();
      continue;
    }
    auto& entry = reading.group->pending().find(id)->second;
    entry.delivered_ms = c.now_ms();
    ++entry.deliveries;
  }
}

// Delivers an entry to a consumer, whoever it was delivered to before.
void deliver(call& c, stream_group& group, stream_consumer& consumer, stream_id id,
             group_changes& changes) {
  const auto place = group.add_pending(id, {nullptr, c.now_ms()});
  place->second.delivered_ms = c.now_ms();
  place->second.deliveries = 1;
  group.assign(place, consumer);
  changes.add_delivery(stream_id_text(id).view(), place->second);
}

// Replies with a pending entry, how long it was idle and how often it was delivered before, and
// gives it to the consumer.
void reply_claimed(call& c, const reading& reading, stream_consumer& consumer, stream_id id,
                   group_changes& changes) {
  const auto place = reading.group->pending().find(id);
  auto& entry = place->second;
  (void)reply_one_entry(c, *reading.stream, id, 4);
  c.reply.integer(std::max<std::int64_t>(elapsed_ms(c.now_ms(), entry.delivered_ms), 0));
  c.reply.integer(static_cast<std::int64_t>(entry.deliveries));
  reading.group->assign(place, consumer);
  entry.delivered_ms = c.now_ms();
  ++entry.deliveries;
  changes.add_delivery(stream_id_text(id).view(), entry);
}

void reply_new_entry(call& c, const stream_entry& entry, const reading_words& words) {
  if (!words.claim_idle_ms) {
    reply_stream_entry(c, entry);
    return;
  }
  reply_stream_entry(c, entry, 4);
  c.reply.integer(0);
  c.reply.integer(0);
}

void reply_to_group(call& c, const reading& reading, const reading_words& words,
                    stream_consumer& consumer, std::uint64_t limit, group_changes& changes) {
  // An earlier reading of the same stream may have claimed them.
  auto claimed = reading.claimed;
  std::erase_if(claimed, [&](stream_id id) { return !is_claimable(c, reading, id, words); });
  const auto first = reading.after.next();
  auto left = first ? reading.stream->count(*first, stream_id::highest(), limit - claimed.size())
                    : std::uint64_t{0};
  c.reply.array(claimed.size() + left);
  for (const auto& id : claimed) reply_claimed(c, reading, consumer, id, changes);
  if (left == 0) return;
  bool has_moved = false;
  stream_cursor cursor(*reading.stream, *first, stream_id::highest(), false);
  for (; left != 0 && cursor.next(); --left) {
    const auto id = cursor.entry().id;
    if (id > reading.group->last_id) {
      reading.stream->advance(*reading.group, id);
      has_moved = true;
    }
    reply_new_entry(c, cursor.entry(), words);
    if (!words.acknowledges) deliver(c, *reading.group, consumer, id, changes);
  }
  // Otherwise the deliveries name the position.
  if (has_moved && words.acknowledges) changes.add_position();
}

using command_list = std::vector<std::vector<std::string>>;

// Replies with the key and the entries of one stream.
void reply_reading(call& c, const reading& reading, const reading_words& words, std::uint64_t limit,
                   command_list& commands) {
  if (!c.reply.is_resp3()) c.reply.array(2);
  c.reply.bulk(reading.key);
  if (reading.group == nullptr) {
    const auto first = reading.after.next();
    reply_stream_range(c, *reading.stream, first.value_or(stream_id::highest()),
                       stream_id::highest(), first ? limit : 0, false);
    return;
  }
  const auto name = c[words.group_index + 1];
  group_changes changes(c, reading.key, c[words.group_index], *reading.group);
  if (words.acknowledges && reading.group->find_consumer(name) == nullptr) {
    changes.add_consumer(name);
  }
  auto& consumer = seen_consumer(c, reading.key, *reading.group, name);
  if (reading.is_history) {
    reply_history(c, reading, consumer, limit);
  } else {
    reply_to_group(c, reading, words, consumer, limit, changes);
  }
  c.keys().changes().record();
  std::ranges::move(changes.take(), std::back_inserter(commands));
}

// Replies with a head for `count` streams.
void reply_head(call& c, std::size_t count) {
  if (c.reply.is_resp3()) {
    c.reply.map(count);
  } else {
    c.reply.array(count);
  }
}

// --- waiting

// Waits with ids instead of "$", since the last ids change meanwhile.
void wait_for_entries(call& c, const reading_words& words, const std::vector<reading>& readings) {
  if (!c.may_block()) {
    c.reply.null_array();
    return;
  }
  std::vector<std::string_view> fixed(c.words.begin(), c.words.end());
  std::vector<stream_id_text> texts;
  texts.reserve(readings.size());
  for (std::size_t i = 0; i < readings.size(); ++i) {
    auto& word = fixed[words.first_key + words.keys + i];
    const auto start = before_nul(word);
    if (start == "$" || start == "+") word = texts.emplace_back(readings[i].after).view();
  }
  const auto original = c.words;
  c.words = fixed;
  c.wait_for(original.subspan(words.first_key, words.keys), words.deadline_ms,
             [](front&, client& client) { client.reply().null_array(); });
  c.words = original;
  if (words.claim_idle_ms) retry_claiming(c, words);
}

// Finds what a waiting client can read from the stream at word `index`, which has changed. Returns
// nullopt after an error; the stream is null if there is nothing yet.
std::optional<reading> find_awaited(call& c, const reading_words& words, std::size_t index) {
  reading found{.key = c[index]};
  const entry* const there = c.keys().find(c.who.database, found.key, c.hash(index));
  auto* const stream = there != nullptr && there->type() == value_kind::stream
                           ? &there->as<stream_value>()
                           : nullptr;
  if (words.in_group) {
    if (stream == nullptr) {
      c.fail("UNBLOCKED the stream key no longer exists");
      return {};
    }
    found.group = stream->find_group(c[words.group_index]);
    if (found.group == nullptr) {
      c.fail("NOGROUP the consumer group this client was blocked on no longer exists");
      return {};
    }
    found.after = found.group->last_id;
    if (words.claim_idle_ms) {
      found.stream = stream;
      found.claimed = find_claimable(c, found, words, limit_after_wait(words));
      if (!found.claimed.empty()) return found;
      found.stream = nullptr;
    }
  } else {
    const auto parsed = parse_stream_id(c[index + words.keys], 0, false);
    if (parsed) found.after = parsed->id;
  }
  if (stream != nullptr && stream->announced_id > found.after) found.stream = stream;
  return found;
}

// Serves a waiting client from the key that has changed, or lets it wait on.
void serve_awaited(call& c, const reading_words& words) {
  const auto keys = c.words.subspan(words.first_key, words.keys);
  const auto ready = std::ranges::find(keys, c.who.waiting->ready);
  std::optional<reading> found = reading{};
  if (ready != keys.end()) {
    found =
        find_awaited(c, words, words.first_key + static_cast<std::size_t>(ready - keys.begin()));
    if (!found) return;
  }
  if (found->stream == nullptr) {
    c.wait_for(keys, words.deadline_ms, nullptr);
    if (words.claim_idle_ms) retry_claiming(c, words);
    return;
  }
  command_list commands;
  reply_head(c, 1);
  reply_reading(c, *found, words, limit_after_wait(words), commands);
  group_changes::propagate(c, commands);
}

void read_streams(call& c, bool in_group) {
  const auto words = read_reading_words(c, in_group);
  if (!words) return;
  if (in_group) c.propagate_nothing();
  if (c.who.waiting) {
    serve_awaited(c, *words);
    return;
  }
  auto readings = find_readings(c, *words);
  if (!readings) return;
  choose_served(c, *readings, *words);
  const auto served = std::ranges::count_if(*readings, &reading::is_served);
  if (served == 0 && words->blocks) {
    wait_for_entries(c, *words, *readings);
    return;
  }
  if (served == 0) {
    c.reply.null_array();
    return;
  }
  command_list commands;
  reply_head(c, static_cast<std::size_t>(served));
  for (const auto& each : *readings) {
    if (each.is_served) reply_reading(c, each, *words, words->limit(), commands);
  }
  group_changes::propagate(c, commands);
}

void xread(call& c) { read_streams(c, false); }
void xreadgroup(call& c) { read_streams(c, true); }

// clang-format off
const command_row stream_reading_rows[] = {
    {"xread", -4, "readonly blocking movablekeys", {0, 0, 0},
     "RO access STREAMS@1 -1 1 2", "stream blocking", "5.0.0",
     "returns the entries behind an id, of several streams; can wait for entries", xread},
    {"xreadgroup", -7, "write blocking movablekeys", {0, 0, 0},
     "RO access STREAMS@4 -1 1 2", "stream blocking", "5.0.0",
     "returns entries that are new to a group, or a consumer's pending entries; can wait",
     xreadgroup},
};
// clang-format on

}  // namespace

command_group stream_reading_commands() { return {"stream", stream_reading_rows}; }

}  // namespace strata::runtime::cache
