// Commands on the consumer groups of a stream: XGROUP and XACK.
#include <fmt/format.h>

#include <array>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/streams/stream_group_words.hpp"

namespace strata::runtime::cache {

namespace {

// A change of a group neither fails transactions that watch the key nor wakes clients that wait for
// it.
void note_group_change(call& c, std::string_view event) {
  c.keys().changes().record();
  c.keys().notify(event_stream, event, c[2], c.who.database);
}

struct group_options {
  bool makes_stream = false;
  std::int64_t entries_read = stream_group::unknown;
};

std::optional<group_options> read_group_options(call& c, bool may_make_stream) {
  group_options read;
  for (std::size_t i = 5; i < c.size(); ++i) {
    if (may_make_stream && c.is(i, "MKSTREAM")) {
      read.makes_stream = true;
    } else if (c.is(i, "ENTRIESREAD") && i + 1 < c.size()) {
      const auto count = c.integer(++i);
      if (!count) return {};
      if (*count < 0 && *count != stream_group::unknown) {
        c.fail("ERR value for ENTRIESREAD must be positive or -1");
        return {};
      }
      read.entries_read = *count;
    } else {
      c.fail_subcommand();
      return {};
    }
  }
  return read;
}

// Returns the stream at word 2. A missing one is an error unless `may_be_missing`.
std::optional<stream_value*> find_grouped_stream(call& c, bool may_be_missing = false) {
  const auto found = c.find_as<stream_value>(2);
  if (!found || *found != nullptr || may_be_missing) return found;
  c.fail(
      "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to "
      "use the MKSTREAM option to create an empty stream automatically.");
  return {};
}

// Returns the group at words 2 and 3; null after an error.
found_group find_named_group(call& c) {
  const auto stream = find_grouped_stream(c);
  if (!stream) return {};
  stream_group* const group = (*stream)->find_group(c[3]);
  if (group != nullptr) return {*stream, group};
  c.fail(fmt::format("NOGROUP No such consumer group '{}' for key name '{}'", before_nul(c[3]),
                     before_nul(c[2])));
  return {};
}

// --- XGROUP

void group_create(call& c) {
  const auto options = read_group_options(c, true);
  if (!options) return;
  const auto found = find_grouped_stream(c, options->makes_stream);
  if (!found) return;
  stream_value* stream = *found;
  std::optional<stream_id> last;
  if (before_nul(c[4]) == "$") {
    last = stream == nullptr ? stream_id::lowest() : stream->last_id;
  } else {
    last = read_stream_id(c, 4);
  }
  if (!last) return;
  if (stream == nullptr) {
    stream = c.make_as<stream_value>(2);
    c.keys().touch(c.who.database, c[2]);
  }
  if (stream->add_group(c[3], *last, options->entries_read) == nullptr) {
    c.fail("BUSYGROUP Consumer Group name already exists");
    return;
  }
  c.reply.ok();
  note_group_change(c, "xgroup-create");
}

void group_set_id(call& c) {
  const auto options = read_group_options(c, false);
  if (!options) return;
  const auto found = find_named_group(c);
  if (!found) return;
  const auto last =
      before_nul(c[4]) == "$" ? std::optional(found.stream->last_id) : read_stream_id_or_end(c, 4);
  if (!last) return;
  found.group->last_id = *last;
  found.group->entries_read = options->entries_read;
  c.reply.ok();
  note_group_change(c, "xgroup-setid");
}

void group_destroy(call& c) {
  const auto found = find_grouped_stream(c);
  if (!found) return;
  const bool existed = (*found)->erase_group(c[3]);
  c.reply.integer(existed ? 1 : 0);
  if (!existed) return;
  note_group_change(c, "xgroup-destroy");
  // Clients that wait for the group have to be told.
  c.home().blocked().touch(c.who.database, c[2]);
}

void group_create_consumer(call& c) {
  const auto found = find_named_group(c);
  if (!found) return;
  const bool is_new = found.group->find_consumer(c[4]) == nullptr;
  if (is_new) (void)seen_consumer(c, c[2], *found.group, c[4]);
  c.reply.integer(is_new ? 1 : 0);
}

void group_delete_consumer(call& c) {
  const auto found = find_named_group(c);
  if (!found) return;
  stream_consumer* const consumer = found.group->find_consumer(c[4]);
  std::size_t pending = 0;
  if (consumer != nullptr) {
    pending = consumer->pending.size();
    found.group->erase_consumer(*consumer);
    note_group_change(c, "xgroup-delconsumer");
  }
  c.reply.integer(static_cast<std::int64_t>(pending));
}

void group_help(call& c) {
  constexpr std::array<std::string_view, 17> lines = {
      "XGROUP <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "CREATE <key> <groupname> <id|$> [option]",
      "    Create a new consumer group. Options are:",
      "    * MKSTREAM",
      "      Create the empty stream if it does not exist.",
      "    * ENTRIESREAD entries_read",
      "      Set the group's entries_read counter (internal use).",
      "CREATECONSUMER <key> <groupname> <consumer>",
      "    Create a new consumer in the specified group.",
      "DELCONSUMER <key> <groupname> <consumer>",
      "    Remove the specified consumer.",
      "DESTROY <key> <groupname>",
      "    Remove the specified group.",
      "SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
      "    Set the current group ID and entries_read counter.",
      "HELP",
      "    Prints this help."};
  c.reply_lines(lines);
}

// --- XACK

void xack(call& c) {
  const auto found = read_group(c, 1);
  if (!found) return;
  if (!*found) {
    c.reply.integer(0);
    return;
  }
  const auto ids = read_stream_ids(c, 3);
  if (!ids) return;
  auto& pending = found->group->pending();
  std::uint64_t acknowledged = 0;
  for (const auto& id : *ids) {
    const auto place = pending.find(id);
    if (place == pending.end()) continue;
    found->group->erase_pending(place);
    ++acknowledged;
  }
  c.keys().changes().record(acknowledged);
  c.reply.integer(static_cast<std::int64_t>(acknowledged));
}

// clang-format off
const command_row group_rows[] = {
    {"create", -5, "write denyoom", {2, 2, 1},
     "RW insert 2 0 1", "stream", "5.0.0",
     "creates a consumer group", group_create},
    {"createconsumer", 5, "write denyoom", {2, 2, 1},
     "RW insert 2 0 1", "stream", "6.2.0",
     "creates a consumer in a group", group_create_consumer},
    {"delconsumer", 5, "write", {2, 2, 1},
     "RW delete 2 0 1", "stream", "5.0.0",
     "removes a consumer and its pending entries", group_delete_consumer},
    {"destroy", 4, "write", {2, 2, 1},
     "RW delete 2 0 1", "stream", "5.0.0",
     "removes a consumer group", group_destroy},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "stream", "5.0.0",
     "lists the subcommands of XGROUP", group_help},
    {"setid", -5, "write", {2, 2, 1},
     "RW update 2 0 1", "stream", "5.0.0",
     "sets the id of the last entry delivered to a group", group_set_id},
};

const command_row stream_group_rows[] = {
    {"xack", -4, "write fast", {1, 1, 1},
     "RW update 1 0 1", "stream", "5.0.0",
     "removes pending entries, which a consumer has processed", xack},
    {"xgroup", -2, "", {0, 0, 0},
     "", "", "5.0.0",
     "manages the consumer groups of a stream", nullptr, group_rows},
};
// clang-format on

}  // namespace

command_group stream_group_commands() { return {"stream", stream_group_rows}; }

}  // namespace strata::runtime::cache
