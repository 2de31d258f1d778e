// Publish and subscribe.
#include "runtime/cache/engine/clients/pubsub.hpp"

#include <array>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"
#include "text/pattern.hpp"

namespace strata::runtime::cache {

namespace {

void confirm(call& c, std::string_view text, std::optional<std::string_view> name,
             std::size_t subscriptions) {
  auto& output = c.who.pushes();
  output.push(3);
  output.bulk(text);
  if (name) {
    output.bulk(*name);
  } else {
    output.null();
  }
  output.integer(static_cast<std::int64_t>(subscriptions));
}

void confirm(call& c, std::string_view text, std::string_view name) {
  confirm(c, text, name, c.who.subscriptions());
}

void reply_none(call& c, std::string_view text) {
  confirm(c, text, std::nullopt, c.who.subscriptions());
}

void subscribe(call& c) {
  for (const auto& each : c.words.subspan(1)) {
    c.home().channels().subscribe(c.who, each);
    confirm(c, "subscribe", each);
  }
}

void psubscribe(call& c) {
  for (const auto& each : c.words.subspan(1)) {
    c.home().channels().subscribe_pattern(c.who, each);
    confirm(c, "psubscribe", each);
  }
}

// Returns the given names, or all that the client has.
template <class Names>
std::vector<std::string> names_of(const call& c, const Names& all) {
  if (c.size() > 1) return {c.words.begin() + 1, c.words.end()};
  return {all.begin(), all.end()};
}

void unsubscribe(call& c) {
  const auto names = names_of(c, c.who.channels);
  for (const auto& each : names) {
    c.home().channels().unsubscribe(c.who, each);
    confirm(c, "unsubscribe", each);
  }
  if (names.empty()) reply_none(c, "unsubscribe");
}

void punsubscribe(call& c) {
  const auto names = names_of(c, c.who.patterns);
  for (const auto& each : names) {
    c.home().channels().unsubscribe_pattern(c.who, each);
    confirm(c, "punsubscribe", each);
  }
  if (names.empty()) reply_none(c, "punsubscribe");
}

void ssubscribe(call& c) {
  for (const auto& each : c.words.subspan(1)) {
    c.home().channels().subscribe_shard(c.who, each);
    confirm(c, "ssubscribe", each, c.who.shard_channels.size());
  }
}

void sunsubscribe(call& c) {
  const auto names = names_of(c, c.who.shard_channels);
  for (const auto& each : names) {
    c.home().channels().unsubscribe_shard(c.who, each);
    confirm(c, "sunsubscribe", each, c.who.shard_channels.size());
  }
  if (names.empty()) confirm(c, "sunsubscribe", std::nullopt, c.who.shard_channels.size());
}

void spublish(call& c) {
  c.reply.integer(static_cast<std::int64_t>(c.home().channels().publish_shard(c[1], c[2])));
  c.keys().changes().propagate_message(c.words);
}

void publish(call& c) {
  c.reply.integer(static_cast<std::int64_t>(c.home().channels().publish(c[1], c[2])));
  c.keys().changes().propagate_message(c.words);
}

void reply_names(call& c, const pubsub::table& table) {
  if (c.size() > 3) {
    c.fail_subcommand();
    return;
  }
  std::vector<std::string_view> found;
  for (const auto& [name, clients] : table) {
    if (c.size() == 2 || text::matches_pattern(c[2], name)) found.emplace_back(name);
  }
  c.reply.array(found.size());
  for (const auto& each : found) c.reply.bulk(each);
}

void reply_counts(call& c, const pubsub::table& table) {
  c.reply.array((c.size() - 2) * 2);
  for (const auto& each : c.words.subspan(2)) {
    const auto found = table.find(each);
    c.reply.bulk(each);
    c.reply.integer(found == table.end() ? 0 : static_cast<std::int64_t>(found->second.size()));
  }
}

void pubsub_channels(call& c) { reply_names(c, c.home().channels().channels()); }
void pubsub_shardchannels(call& c) { reply_names(c, c.home().channels().shard_channels()); }
void pubsub_numsub(call& c) { reply_counts(c, c.home().channels().channels()); }
void pubsub_shardnumsub(call& c) { reply_counts(c, c.home().channels().shard_channels()); }

void pubsub_numpat(call& c) {
  c.reply.integer(static_cast<std::int64_t>(c.home().channels().patterns().size()));
}

void pubsub_help(call& c) {
  constexpr std::array<std::string_view, 6> lines = {
      "PUBSUB <subcommand>. Subcommands are:",
      "CHANNELS [PATTERN] -- lists the channels that have subscribers.",
      "NUMPAT -- returns the number of patterns that have subscribers.",
      "NUMSUB [CHANNEL ...] -- returns the number of subscribers of each channel.",
      "SHARDCHANNELS [PATTERN] -- lists the shard channels that have subscribers.",
      "SHARDNUMSUB [CHANNEL ...] -- returns the number of subscribers of each shard channel."};
  c.reply_lines(lines);
}

// clang-format off
const command_row pubsub_rows[] = {
    {"channels", -2, "pubsub loading stale", {0, 0, 0},
     "", "pubsub", "2.8.0",
     "lists the channels that have subscribers", pubsub_channels},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "", "6.2.0",
     "lists the subcommands of PUBSUB", pubsub_help},
    {"numpat", 2, "pubsub loading stale", {0, 0, 0},
     "", "pubsub", "2.8.0",
     "returns the number of patterns that have subscribers", pubsub_numpat},
    {"numsub", -2, "pubsub loading stale", {0, 0, 0},
     "", "pubsub", "2.8.0",
     "returns the number of subscribers of each channel", pubsub_numsub},
    {"shardchannels", -2, "pubsub loading stale", {0, 0, 0},
     "", "pubsub", "7.0.0",
     "lists the shard channels that have subscribers", pubsub_shardchannels},
    {"shardnumsub", -2, "pubsub loading stale", {0, 0, 0},
     "", "pubsub", "7.0.0",
     "returns the number of subscribers of each shard channel", pubsub_shardnumsub},
};

const command_row pubsub_group_rows[] = {
    {"psubscribe", -2, "pubsub noscript loading stale", {0, 0, 0},
     "", "pubsub", "2.0.0",
     "subscribes to channels that match patterns", psubscribe, {},
     trait_for_subscribers | trait_takes_patterns},
    {"publish", 3, "pubsub loading stale fast", {0, 0, 0},
     "", "pubsub", "2.0.0",
     "sends a message to a channel", publish, {}, trait_publishes | trait_propagated},
    {"pubsub", -2, "", {0, 0, 0},
     "", "", "2.8.0",
     "inspects channels and their subscribers", nullptr, pubsub_rows},
    {"punsubscribe", -1, "pubsub noscript loading stale", {0, 0, 0},
     "", "pubsub", "2.0.0",
     "unsubscribes from patterns", punsubscribe, {}, trait_for_subscribers},
    {"spublish", 3, "pubsub loading stale fast", {1, 1, 1},
     "not_key 1 0 1", "pubsub", "7.0.0",
     "sends a message to a shard channel", spublish, {}, trait_publishes | trait_propagated},
    {"ssubscribe", -2, "pubsub noscript loading stale", {1, -1, 1},
     "not_key 1 -1 1", "pubsub", "7.0.0",
     "subscribes to shard channels", ssubscribe, {},
     trait_for_subscribers | trait_takes_channels},
    {"subscribe", -2, "pubsub noscript loading stale", {0, 0, 0},
     "", "pubsub", "2.0.0",
     "subscribes to channels", subscribe, {},
     trait_for_subscribers | trait_takes_channels},
    {"sunsubscribe", -1, "pubsub noscript loading stale", {1, -1, 1},
     "not_key 1 -1 1", "pubsub", "7.0.0",
     "unsubscribes from shard channels", sunsubscribe, {}, trait_for_subscribers},
    {"unsubscribe", -1, "pubsub noscript loading stale", {0, 0, 0},
     "", "pubsub", "2.0.0",
     "unsubscribes from channels", unsubscribe, {}, trait_for_subscribers},
};
// clang-format on

}  // namespace

command_group pubsub_commands() { return {"pubsub", pubsub_group_rows}; }

}  // namespace strata::runtime::cache
