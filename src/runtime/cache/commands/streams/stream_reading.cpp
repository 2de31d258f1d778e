// XREAD and XREADGROUP: the entries behind an id, of several streams; they can wait for entries.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/streams/stream_group_words.hpp"

namespace strata::runtime::cache {

namespace {

// The most entries that a client gets after a wait without COUNT.
constexpr std::uint64_t most_after_wait = 1000;

struct reading_words {
  bool in_group = false;  // XREADGROUP
  std::size_t group_index = 0;
  bool acknowledges = false;
  bool blocks = false;
  std::optional<std::int64_t> deadline_ms;
  std::uint64_t count = 0;  // 0: all
  std::size_t first_key = 0;
  std::size_t keys = 0;

  [[nodiscard]] std::uint64_t limit() const { return count == 0 ? UINT64_MAX : count; }
};

// Reads the milliseconds of BLOCK at word `index`; 0 means forever. Returns false after an error.
bool read_block_time(call& c, std::size_t index, reading_words& words) {
  const auto ms = c.integer(index, "ERR timeout is not an integer or out of range");
  if (!ms) return false;
  if (*ms < 0) {
    c.fail("ERR timeout is negative");
    return false;
  }
  words.blocks = true;
  words.deadline_ms.reset();
  std::int64_t deadline = 0;
  // A time beyond all times is forever.
  if (*ms != 0 && !__builtin_add_overflow(*ms, c.now_ms(), &deadline)) {
    words.deadline_ms = deadline;
  }
  return true;
}

// Reads the words from STREAMS at word `index` on. Returns false after an error.
bool read_streams(call& c, std::size_t index, reading_words& words) {
  words.first_key = index + 1;
  const auto count = c.size() - words.first_key;
  words.keys = count / 2;
  if (count % 2 == 0) return true;
  c.fail(
      "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.");
  return false;
}

bool refuse_group_option(call& c, std::string_view option) {
  c.fail(fmt::format("ERR The {} option is only supported by XREADGROUP. You called XREAD instead.",
                     option));
  return false;
}

// Reads the option at word `index`, and moves to its last word. Returns false after an error.
bool read_reading_option(call& c, std::size_t& index, reading_words& words) {
  const auto following = c.size() - index - 1;
  if (following >= 1 && c.is(index, "BLOCK")) return read_block_time(c, ++index, words);
  if (following >= 1 && c.is(index, "COUNT")) {
    const auto count = c.integer(++index);
    if (!count) return false;
    words.count = static_cast<std::uint64_t>(std::max<std::int64_t>(*count, 0));
    return true;
  }
  if (following >= 2 && c.is(index, "GROUP")) {
    if (!words.in_group) return refuse_group_option(c, "GROUP");
    words.group_index = index + 1;
    index += 2;
    return true;
  }
  if (c.is(index, "NOACK")) {
    if (!words.in_group) return refuse_group_option(c, "NOACK");
    words.acknowledges = true;
    return true;
  }
  c.fail_syntax();
  return false;
}

std::optional<reading_words> read_reading_words(call& c, bool in_group) {
  reading_words words{.in_group = in_group};
  for (std::size_t i = 1; i < c.size(); ++i) {
    if (i + 1 < c.size() && c.is(i, "STREAMS")) {
      if (!read_streams(c, i, words)) return {};
      break;
    }
    if (!read_reading_option(c, i, words)) return {};
  }
  if (words.first_key == 0) {
    c.fail_syntax();
    return {};
  }
  if (in_group && words.group_index == 0) {
    c.fail("ERR Missing GROUP option for XREADGROUP");
    return {};
  }
  return words;
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
};

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
  if (word == "+" && !in_group && c.home().settings().knows(version_7_4)) {
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
void choose_served(std::vector<reading>& readings, std::uint64_t limit) {
  for (auto& each : readings) {
    if (each.stream == nullptr) continue;
    if (each.group != nullptr && each.after != stream_id::highest()) {
      each.is_served = each.is_history = true;
      continue;
    }
    if (each.group != nullptr) {
      each.after = each.group->last_id;
      for (const auto& other : readings) {
        if (&other == &each) break;
        if (other.group != each.group || !other.is_served || other.is_history) continue;
        each.after = end_of_reading(*each.stream, other.after, limit);
      }
    }
    const auto last = each.stream->end_id(false);
    each.is_served = last && *last > each.after;
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

void reply_new_to_group(call& c, const reading& reading, const reading_words& words,
                        stream_consumer& consumer, std::uint64_t limit, group_changes& changes) {
  const auto first = reading.after.next();
  auto left = first ? reading.stream->count(*first, stream_id::highest(), limit) : std::uint64_t{0};
  c.reply.array(left);
  if (left == 0) return;
  bool has_moved = false;
  stream_cursor cursor(*reading.stream, *first, stream_id::highest(), false);
  for (; left != 0 && cursor.next(); --left) {
    const auto id = cursor.entry().id;
    if (id > reading.group->last_id) {
      reading.stream->advance(*reading.group, id);
      has_moved = true;
    }
    reply_stream_entry(c, cursor.entry());
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
    reply_new_to_group(c, reading, words, consumer, limit, changes);
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
    return;
  }
  command_list commands;
  reply_head(c, 1);
  reply_reading(c, *found, words, words.count == 0 ? most_after_wait : words.count, commands);
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
  choose_served(*readings, words->limit());
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
