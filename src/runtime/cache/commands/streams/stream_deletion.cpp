// XDELEX and XACKDEL of Redis 8.2: remove entries with regard to the groups that refer to them.
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/streams/stream_group_words.hpp"
#include "runtime/cache/commands/streams/stream_removal.hpp"

namespace strata::runtime::cache {

namespace {

// What an entry's reply says.
enum class outcome : std::int8_t { missing = -1, removed = 1, referenced = 2 };

struct deletion_words {
  reference_policy references = reference_policy::keep;
  std::size_t first_id = 0;
  std::size_t ids = 0;
};

// Reads the number behind IDS at word `index`. Returns false after an error.
bool read_id_count(call& c, std::size_t index, deletion_words& words) {
  const auto count = text::parse_integer(c[index]);
  if (!count || *count < 1) {
    c.fail("ERR Number of IDs must be a positive integer");
    return false;
  }
  words.first_id = index + 1;
  if (static_cast<std::uint64_t>(*count) > c.size() - words.first_id) {
    c.fail("ERR The `numids` parameter must match the number of arguments");
    return false;
  }
  words.ids = static_cast<std::size_t>(*count);
  return true;
}

// Reads [KEEPREF | DELREF | ACKED] IDS count id … from word `first` on, in any order.
std::optional<deletion_words> read_deletion_words(call& c, std::size_t first) {
  deletion_words read;
  bool has_policy = false;
  for (std::size_t i = first; i < c.size(); ++i) {
    const auto policy = has_policy ? std::nullopt : find_reference_policy(c, i);
    if (policy) {
      read.references = *policy;
      has_policy = true;
    } else if (read.ids == 0 && c.is(i, "IDS") && i + 1 < c.size()) {
      if (!read_id_count(c, i + 1, read)) return {};
      i += 1 + read.ids;
    } else {
      c.fail_syntax();
      return {};
    }
  }
  if (read.ids != 0) return read;
  c.fail_syntax();
  return {};
}

std::optional<std::vector<stream_id>> read_ids(call& c, const deletion_words& words) {
  std::vector<stream_id> ids;
  for (std::size_t i = 0; i < words.ids; ++i) {
    const auto id = read_stream_id(c, words.first_id + i);
    if (!id) return {};
    ids.push_back(*id);
  }
  return ids;
}

void reply_outcomes(call& c, const std::vector<outcome>& outcomes) {
  c.reply.array(outcomes.size());
  for (const auto each : outcomes) c.reply.integer(static_cast<std::int64_t>(each));
}

void reply_missing(call& c, const deletion_words& words) {
  reply_outcomes(c, std::vector<outcome>(words.ids, outcome::missing));
}

// Without groups, no group has acknowledged an entry.
bool is_needed(const stream_value& stream, stream_id id) {
  return stream.groups().empty() || stream.is_referenced(id);
}

outcome delete_entry(stream_value& stream, stream_removal& removal, stream_id id,
                     reference_policy references) {
  if (references == reference_policy::require_none && stream.contains(id) &&
      is_needed(stream, id)) {
    return outcome::referenced;
  }
  if (references == reference_policy::remove) removal.erase_references(id);
  return removal.erase(id) ? outcome::removed : outcome::missing;
}

void finish(call& c, std::size_t size_before, const stream_value& stream, stream_removal& removal) {
  const auto removed = size_before - stream.size();
  if (removed != 0) c.changed(c[1], event_stream, "xdel", removed);
  removal.propagate();
}

void xdelex(call& c) {
  const auto words = read_deletion_words(c, 2);
  if (!words) return;
  const auto found = c.find_as<stream_value>(1);
  if (!found) return;
  if (*found == nullptr) {
    reply_missing(c, *words);
    return;
  }
  const auto ids = read_ids(c, *words);
  if (!ids) return;
  auto& stream = **found;
  const auto size_before = stream.size();
  stream_removal removal(c, stream);
  std::vector<outcome> outcomes;
  for (const auto& id : *ids) {
    outcomes.push_back(delete_entry(stream, removal, id, words->references));
  }
  reply_outcomes(c, outcomes);
  finish(c, size_before, stream, removal);
}

// An entry that the group does not have pending stays. One that it had pending is gone afterwards,
// whether it existed still or not.
void xackdel(call& c) {
  const auto words = read_deletion_words(c, 3);
  if (!words) return;
  const auto found = read_group(c, 1);
  if (!found) return;
  if (!*found) {
    reply_missing(c, *words);
    return;
  }
  const auto ids = read_ids(c, *words);
  if (!ids) return;
  auto& stream = *found->stream;
  const auto size_before = stream.size();
  stream_removal removal(c, stream);
  std::vector<outcome> outcomes;
  for (const auto& id : *ids) {
    if (!removal.acknowledge(c[2], *found->group, id)) {
      outcomes.push_back(outcome::missing);
      continue;
    }
    const auto result = delete_entry(stream, removal, id, words->references);
    outcomes.push_back(result == outcome::missing ? outcome::removed : result);
  }
  reply_outcomes(c, outcomes);
  finish(c, size_before, stream, removal);
}

// clang-format off
const command_row stream_deletion_rows[] = {
    {"xackdel", -6, "write fast", {1, 1, 1},
     "RW update delete 1 0 1", "stream", "8.2.0",
     "acknowledges entries and removes them, with regard to other groups", xackdel},
    {"xdelex", -5, "write fast", {1, 1, 1},
     "RW delete 1 0 1", "stream", "8.2.0",
     "removes entries of a stream, with regard to its groups", xdelex},
};
// clang-format on

}  // namespace

command_group stream_deletion_commands() { return {"stream", stream_deletion_rows}; }

}  // namespace strata::runtime::cache
