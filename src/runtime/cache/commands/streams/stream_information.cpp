// XINFO: what a stream, its groups and their consumers look like.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/streams/stream_words.hpp"

namespace strata::runtime::cache {

namespace {

using id_bytes = std::array<unsigned char, 16>;

id_bytes bytes_of_id(const stream_id& id) {
  id_bytes bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<unsigned char>(id.ms >> (56 - 8 * i));
    bytes[8 + i] = static_cast<unsigned char>(id.sequence >> (56 - 8 * i));
  }
  return bytes;
}

// Returns how many nodes a radix tree with these sorted keys has below a path of `depth` bytes,
// which all share: one for the bytes that all share beyond, then one where they part, or an end.
std::size_t count_radix_nodes(std::span<const id_bytes> keys, std::size_t depth) {
  if (keys.size() == 1) return depth < id_bytes().size() ? 2 : 1;
  auto shared = depth;
  while (keys.front()[shared] == keys.back()[shared]) ++shared;
  std::size_t nodes = shared > depth ? 2 : 1;
  while (!keys.empty()) {
    const auto byte = keys.front()[shared];
    const auto end =
        std::ranges::find_if(keys, [&](const id_bytes& each) { return each[shared] != byte; });
    const auto same = static_cast<std::size_t>(end - keys.begin());
    nodes += count_radix_nodes(keys.first(same), shared + 1);
    keys = keys.subspan(same);
  }
  return nodes;
}

// The number of nodes that Redis needs for the blocks.
std::size_t radix_nodes_of(const stream_value& stream) {
  std::vector<id_bytes> keys;
  for (const auto& [first, block] : stream.blocks()) keys.push_back(bytes_of_id(first));
  return keys.empty() ? 1 : count_radix_nodes(keys, 0);
}

void reply_number(call& c, std::string_view name, std::int64_t value) {
  c.reply.bulk(name);
  c.reply.integer(value);
}

void reply_size_of(call& c, std::string_view name, std::size_t size) {
  reply_number(c, name, static_cast<std::int64_t>(size));
}

void reply_named_id(call& c, std::string_view name, const stream_id& id) {
  c.reply.bulk(name);
  reply_stream_id(c, id);
}

void reply_progress(call& c, const stream_value& stream, const stream_group& group) {
  c.reply.bulk("entries-read");
  if (group.entries_read == stream_group::unknown) {
    c.reply.null();
  } else {
    c.reply.integer(group.entries_read);
  }
  c.reply.bulk("lag");
  if (const auto lag = stream.lag(group)) {
    c.reply.integer(*lag);
  } else {
    c.reply.null();
  }
}

// --- XINFO STREAM

void reply_full_consumer(call& c, const stream_group& group, const stream_consumer& consumer,
                         std::uint64_t limit) {
  c.reply.map(4);
  c.reply.bulk("name");
  c.reply.bulk(consumer.name);
  reply_number(c, "seen-time", consumer.seen_ms);
  reply_size_of(c, "pel-count", consumer.pending.size());
  c.reply.bulk("pending");
  auto left = std::min<std::uint64_t>(limit, consumer.pending.size());
  c.reply.array(left);
  for (auto at = consumer.pending.begin(); left != 0; ++at, --left) {
    const auto& entry = group.pending().find(*at)->second;
    c.reply.array(3);
    reply_stream_id(c, *at);
    c.reply.integer(entry.delivered_ms);
    c.reply.integer(static_cast<std::int64_t>(entry.deliveries));
  }
}

void reply_full_group(call& c, const stream_value& stream, std::string_view name,
                      const stream_group& group, std::uint64_t limit) {
  c.reply.map(7);
  c.reply.bulk("name");
  c.reply.bulk(name);
  reply_named_id(c, "last-delivered-id", group.last_id);
  reply_progress(c, stream, group);
  reply_size_of(c, "pel-count", group.pending().size());
  c.reply.bulk("pending");
  auto left = std::min<std::uint64_t>(limit, group.pending().size());
  c.reply.array(left);
  for (auto at = group.pending().begin(); left != 0; ++at, --left) {
    c.reply.array(4);
    reply_stream_id(c, at->first);
    c.reply.bulk(at->second.consumer->name);
    c.reply.integer(at->second.delivered_ms);
    c.reply.integer(static_cast<std::int64_t>(at->second.deliveries));
  }
  c.reply.bulk("consumers");
  c.reply.array(group.consumers().size());
  for (const auto& [_, consumer] : group.consumers()) {
    reply_full_consumer(c, group, consumer, limit);
  }
}

void reply_full_rest(call& c, const stream_value& stream, std::uint64_t limit) {
  c.reply.bulk("entries");
  reply_stream_range(c, stream, stream_id::lowest(), stream_id::highest(), limit, false);
  c.reply.bulk("groups");
  c.reply.array(stream.groups().size());
  for (const auto& [name, group] : stream.groups()) {
    reply_full_group(c, stream, name, group, limit);
  }
}

void reply_end(call& c, const stream_value& stream, bool at_front) {
  stream_cursor cursor(stream, stream_id::lowest(), stream_id::highest(), !at_front);
  if (cursor.next()) {
    reply_stream_entry(c, cursor.entry());
  } else {
    c.reply.null();
  }
}

// Reads [FULL [COUNT count]] from word 3 on: the most entries to show. Returns nullopt after an
// error.
std::optional<std::uint64_t> read_full_limit(call& c) {
  constexpr std::uint64_t usual = 10;
  const bool has_count = c.size() == 6;
  if ((c.size() != 4 && !has_count) || !c.is(3, "FULL") || (has_count && !c.is(4, "COUNT"))) {
    c.fail_subcommand();
    return {};
  }
  if (!has_count) return usual;
  const auto count = c.integer(5);
  if (!count) return {};
  if (*count == 0) return UINT64_MAX;
  return *count < 0 ? usual : static_cast<std::uint64_t>(*count);
}

// Returns the stream at word 2; null after an error.
stream_value* find_described_stream(call& c) {
  const auto found = c.read_as<stream_value>(2);
  if (!found) return nullptr;
  if (*found == nullptr) c.fail(no_key_error);
  return *found;
}

void info_stream(call& c) {
  const auto* const stream = find_described_stream(c);
  if (stream == nullptr) return;
  const bool is_full = c.size() > 3;
  std::uint64_t limit = 0;
  if (is_full) {
    const auto read = read_full_limit(c);
    if (!read) return;
    limit = *read;
  }
  c.reply.map(is_full ? 9 : 10);
  reply_size_of(c, "length", stream->size());
  reply_size_of(c, "radix-tree-keys", stream->blocks().size());
  reply_size_of(c, "radix-tree-nodes", radix_nodes_of(*stream));
  reply_named_id(c, "last-generated-id", stream->last_id);
  reply_named_id(c, "max-deleted-entry-id", stream->max_deleted_id);
  reply_number(c, "entries-added", static_cast<std::int64_t>(stream->entries_added));
  reply_named_id(c, "recorded-first-entry-id", stream->first_id);
  if (is_full) {
    reply_full_rest(c, *stream, limit);
    return;
  }
  reply_size_of(c, "groups", stream->groups().size());
  c.reply.bulk("first-entry");
  reply_end(c, *stream, true);
  c.reply.bulk("last-entry");
  reply_end(c, *stream, false);
}

// --- XINFO GROUPS and CONSUMERS

void info_groups(call& c) {
  const auto* const stream = find_described_stream(c);
  if (stream == nullptr) return;
  c.reply.array(stream->groups().size());
  for (const auto& [name, group] : stream->groups()) {
    c.reply.map(6);
    c.reply.bulk("name");
    c.reply.bulk(name);
    reply_size_of(c, "consumers", group.consumers().size());
    reply_size_of(c, "pending", group.pending().size());
    reply_named_id(c, "last-delivered-id", group.last_id);
    reply_progress(c, *stream, group);
  }
}

void info_consumers(call& c) {
  auto* const stream = find_described_stream(c);
  if (stream == nullptr) return;
  const auto* const group = stream->find_group(c[3]);
  if (group == nullptr) {
    c.fail(fmt::format("NOGROUP No such consumer group '{}' for key name '{}'", before_nul(c[3]),
                       before_nul(c[2])));
    return;
  }
  c.reply.array(group->consumers().size());
  for (const auto& [name, consumer] : group->consumers()) {
    c.reply.map(3);
    c.reply.bulk("name");
    c.reply.bulk(name);
    reply_size_of(c, "pending", consumer.pending.size());
    const auto idle = static_cast<std::int64_t>(static_cast<std::uint64_t>(c.now_ms()) -
                                                static_cast<std::uint64_t>(consumer.seen_ms));
    reply_number(c, "idle", std::max<std::int64_t>(idle, 0));
  }
}

void info_help(call& c) {
  constexpr std::array<std::string_view, 9> lines = {
      "XINFO <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
      "CONSUMERS <key> <groupname>",
      "    Show consumers of <groupname>.",
      "GROUPS <key>",
      "    Show the stream consumer groups.",
      "STREAM <key> [FULL [COUNT <count>]",
      "    Show information about the stream.",
      "HELP",
      "    Prints this help."};
  c.reply_lines(lines);
}

// clang-format off
const command_row information_rows[] = {
    {"consumers", 4, "readonly", {2, 2, 1},
     "RO access 2 0 1", "stream", "5.0.0",
     "returns the consumers of a group", info_consumers},
    {"groups", 3, "readonly", {2, 2, 1},
     "RO access 2 0 1", "stream", "5.0.0",
     "returns the consumer groups of a stream", info_groups},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "stream", "5.0.0",
     "lists the subcommands of XINFO", info_help},
    {"stream", -3, "readonly", {2, 2, 1},
     "RO access 2 0 1", "stream", "5.0.0",
     "returns the state of a stream", info_stream},
};

const command_row stream_information_rows[] = {
    {"xinfo", -2, "", {0, 0, 0},
     "", "", "5.0.0",
     "returns information on streams", nullptr, information_rows},
};
// clang-format on

}  // namespace

command_group stream_information_commands() { return {"stream", stream_information_rows}; }

}  // namespace strata::runtime::cache
