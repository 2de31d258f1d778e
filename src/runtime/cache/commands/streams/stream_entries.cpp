// Commands on the entries of one stream.
#include <algorithm>

#include "runtime/cache/commands/collections.hpp"
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/streams/stream_removal.hpp"

namespace strata::runtime::cache {

namespace {

// Redis's limit for the sum of an entry's names and values.
constexpr std::size_t most_entry_bytes = 1 << 30;

// --- XADD

constexpr std::string_view too_large_error = "ERR Elements are too large to be stored";

// Returns the new entry's id. Returns nullopt after an error, if it would not be higher than the
// last one.
std::optional<stream_id> next_stream_id(call& c, const stream_id& last,
                                        const std::optional<parsed_id>& request) {
  std::optional<stream_id> id;
  if (!request) {
    const stream_id fresh{static_cast<std::uint64_t>(c.now_ms()), 0};
    id = fresh.ms > last.ms ? fresh : last.next();
  } else if (request->has_open_sequence && request->id.ms == last.ms) {
    if (last.sequence == UINT64_MAX) {
      c.fail(too_large_error);
      return {};
    }
    id = last.next();
  } else {
    id = request->id;
  }
  if (id && *id > last) return id;
  c.fail("ERR The ID specified in XADD is equal or smaller than the target stream top item");
  return {};
}

stream_value* stream_for_addition(call& c, bool makes_stream) {
  if (makes_stream) return c.make_as<stream_value>(1);
  const auto found = c.find_as<stream_value>(1);
  if (!found) return nullptr;
  if (*found == nullptr) c.reply.null();
  return *found;
}

void xadd(call& c) {
  const auto words = read_addition_words(c, true);
  if (!words) return;
  const auto first_field = words->id_index + 1;
  if (c.size() < first_field + 2 || (c.size() - first_field) % 2 != 0) {
    c.fail_arity();
    return;
  }
  if (words->id && !words->id->has_open_sequence && words->id->id == stream_id::lowest()) {
    c.fail("ERR The ID specified in XADD must be greater than 0-0");
    return;
  }
  stream_value* const stream = stream_for_addition(c, words->makes_stream);
  if (stream == nullptr) return;
  if (stream->last_id == stream_id::highest()) {
    c.fail("ERR The stream has exhausted the last possible ID, unable to add more items");
    return;
  }
  const auto id = next_stream_id(c, stream->last_id, words->id);
  if (!id) return;
  const auto fields = c.words.subspan(first_field);
  std::size_t bytes = 0;
  for (const auto& each : fields) bytes += each.size();
  if (bytes > most_entry_bytes) {
    c.fail(too_large_error);
    return;
  }
  const auto& settings = c.home().settings();
  stream->append(*id, fields, {settings.stream_max_block_bytes, settings.stream_max_block_entries});
  stream->announced_id = *id;
  const stream_id_text text(*id);
  c.reply.bulk(text.view());
  c.changed(c[1], event_stream, "xadd");
  stream_removal removal(c, *stream);
  if (removal.trim(*words) != 0) {
    c.keys().notify(event_stream, "xtrim", c[1], c.who.database);
  }
  if (words->references) {
    removal.propagate_addition(*words, text.view());
    return;
  }
  const bool is_exact = words->id && !words->id->has_open_sequence;
  propagate_trimming(c, *stream, *words, is_exact ? std::string_view() : text.view());
}

// --- reading

void xlen(call& c) { reply_size<stream_value>(c); }

void reply_interval(call& c, bool backwards) {
  const auto first = read_interval_end(c, backwards ? 3 : 2, interval_end::first);
  if (!first) return;
  const auto last = read_interval_end(c, backwards ? 2 : 3, interval_end::last);
  if (!last) return;
  std::uint64_t limit = UINT64_MAX;
  for (std::size_t i = 4; i < c.size(); i += 2) {
    if (!c.is(i, "COUNT") || i + 1 == c.size()) {
      c.fail_syntax();
      return;
    }
    const auto count = c.integer(i + 1);
    if (!count) return;
    limit = *count < 0 ? 0 : static_cast<std::uint64_t>(*count);
  }
  const auto found = c.read_as<stream_value>(1);
  if (!found) return;
  if (*found == nullptr) {
    c.reply.array(0);
  } else if (limit == 0) {
    c.reply.null_array();
  } else {
    reply_stream_range(c, **found, *first, *last, limit, backwards);
  }
}

void xrange(call& c) { reply_interval(c, false); }
void xrevrange(call& c) { reply_interval(c, true); }

// --- removing

void xdel(call& c) {
  const auto found = c.find_as<stream_value>(1);
  if (!found) return;
  if (*found == nullptr) {
    c.reply.integer(0);
    return;
  }
  const auto ids = read_stream_ids(c, 2);
  if (!ids) return;
  std::uint64_t removed = 0;
  for (const auto& id : *ids) removed += (*found)->erase(id) ? 1 : 0;
  if (removed != 0) c.changed(c[1], event_stream, "xdel", removed);
  c.reply.integer(static_cast<std::int64_t>(removed));
}

void xtrim(call& c) {
  const auto words = read_addition_words(c, false);
  if (!words) return;
  const auto found = c.find_as<stream_value>(1);
  if (!found) return;
  if (*found == nullptr) {
    c.reply.integer(0);
    return;
  }
  stream_removal removal(c, **found);
  const auto removed = removal.trim(*words);
  c.reply.integer(static_cast<std::int64_t>(removed));
  if (removed == 0) return;
  c.changed(c[1], event_stream, "xtrim", removed);
  if (words->references) {
    removal.propagate_trimming(*words);
  } else {
    propagate_trimming(c, **found, *words, {});
  }
}

// --- XSETID

struct position_options {
  std::optional<std::int64_t> entries_added;
  stream_id max_deleted_id;
};

std::optional<position_options> read_position_options(call& c, stream_id last) {
  position_options read;
  for (std::size_t i = 3; i < c.size(); i += 2) {
    const bool has_value = i + 1 < c.size();
    if (has_value && c.is(i, "ENTRIESADDED")) {
      read.entries_added = c.integer(i + 1);
      if (!read.entries_added) return {};
      if (*read.entries_added < 0) {
        c.fail("ERR entries_added must be positive");
        return {};
      }
    } else if (has_value && c.is(i, "MAXDELETEDID")) {
      const auto id = read_stream_id(c, i + 1);
      if (!id) return {};
      read.max_deleted_id = *id;
      if (last < *id) {
        c.fail("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id");
        return {};
      }
    } else {
      c.fail_syntax();
      return {};
    }
  }
  return read;
}

void xsetid(call& c) {
  const auto last = read_stream_id(c, 2);
  if (!last) return;
  const auto options = read_position_options(c, *last);
  if (!options) return;
  const auto found = c.find_as<stream_value>(1);
  if (!found) return;
  if (*found == nullptr) {
    c.fail(no_key_error);
    return;
  }
  auto& stream = **found;
  if (stream.size() != 0) {
    if (*last < stream.end_id(false)) {
      c.fail("ERR The ID specified in XSETID is smaller than the target stream top item");
      return;
    }
    if (options->entries_added &&
        stream.size() > static_cast<std::uint64_t>(*options->entries_added)) {
      c.fail("ERR The entries_added specified in XSETID is smaller than the target stream length");
      return;
    }
  }
  stream.last_id = *last;
  if (options->entries_added) {
    stream.entries_added = static_cast<std::uint64_t>(*options->entries_added);
  }
  if (options->max_deleted_id != stream_id::lowest()) {
    stream.max_deleted_id = options->max_deleted_id;
  }
  c.reply.ok();
  // As in Redis, this neither fails transactions that watch the key nor wakes clients.
  c.keys().changes().record();
  c.keys().notify(event_stream, "xsetid", c[1], c.who.database);
}

// clang-format off
const command_row stream_entry_rows[] = {
    {"xadd", -5, "write denyoom fast", {1, 1, 1},
     "RW update 1 0 1", "stream", "5.0.0",
     "appends an entry to a stream", xadd},
    {"xdel", -3, "write fast", {1, 1, 1},
     "RW delete 1 0 1", "stream", "5.0.0",
     "removes entries from a stream", xdel},
    {"xlen", 2, "readonly fast", {1, 1, 1},
     "RO 1 0 1", "stream", "5.0.0",
     "returns the number of entries of a stream", xlen},
    {"xrange", -4, "readonly", {1, 1, 1},
     "RO access 1 0 1", "stream", "5.0.0",
     "returns the entries of an interval of ids", xrange},
    {"xrevrange", -4, "readonly", {1, 1, 1},
     "RO access 1 0 1", "stream", "5.0.0",
     "returns the entries of an interval of ids, from the last one on", xrevrange},
    {"xsetid", -3, "write denyoom fast", {1, 1, 1},
     "RW update 1 0 1", "stream", "5.0.0",
     "sets the last id of a stream; meant for replication", xsetid},
    {"xtrim", -4, "write", {1, 1, 1},
     "RW delete 1 0 1", "stream", "5.0.0",
     "removes the first entries of a stream", xtrim},
};
// clang-format on

}  // namespace

command_group stream_entry_commands() { return {"stream", stream_entry_rows}; }

}  // namespace strata::runtime::cache
