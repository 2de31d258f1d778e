// Publish and subscribe.
#include "runtime/cache/pubsub.hpp"

#include <array>

#include "runtime/cache/call.hpp"
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/pattern.hpp"

namespace strata::runtime {

namespace {

void tell(call& c, std::string_view what, std::string_view name) {
  c.reply.push(3);
  c.reply.bulk(what);
  c.reply.bulk(name);
  c.reply.integer(static_cast<std::int64_t>(c.who.subscriptions()));
}

void tell_of_none(call& c, std::string_view what) {
  c.reply.push(3);
  c.reply.bulk(what);
  c.reply.null();
  c.reply.integer(static_cast<std::int64_t>(c.who.subscriptions()));
}

void subscribe(call& c) {
  for (const auto& each : c.words.subspan(1)) {
    c.home.channels().subscribe(c.who, each);
    tell(c, "subscribe", each);
  }
}

void psubscribe(call& c) {
  for (const auto& each : c.words.subspan(1)) {
    c.home.channels().subscribe_pattern(c.who, each);
    tell(c, "psubscribe", each);
  }
}

// The names given, or all that the client has.
template <class Names>
std::vector<std::string> names_of(const call& c, const Names& all) {
  if (c.size() > 1) return {c.words.begin() + 1, c.words.end()};
  return {all.begin(), all.end()};
}

void unsubscribe(call& c) {
  const auto names = names_of(c, c.who.channels);
  for (const auto& each : names) {
    c.home.channels().unsubscribe(c.who, each);
    tell(c, "unsubscribe", each);
  }
  if (names.empty()) tell_of_none(c, "unsubscribe");
}

void punsubscribe(call& c) {
  const auto names = names_of(c, c.who.patterns);
  for (const auto& each : names) {
    c.home.channels().unsubscribe_pattern(c.who, each);
    tell(c, "punsubscribe", each);
  }
  if (names.empty()) tell_of_none(c, "punsubscribe");
}

void publish(call& c) {
  c.reply.integer(static_cast<std::int64_t>(c.home.channels().publish(c[1], c[2])));
}

void pubsub_channels(call& c) {
  std::vector<std::string_view> found;
  for (const auto& [name, clients] : c.home.channels().channels()) {
    if (c.size() == 2 || matches_pattern(c[2], name)) found.emplace_back(name);
  }
  c.reply.array(found.size());
  for (const auto& each : found) c.reply.bulk(each);
}

void pubsub_numsub(call& c) {
  c.reply.array((c.size() - 2) * 2);
  for (const auto& each : c.words.subspan(2)) {
    const auto& channels = c.home.channels().channels();
    const auto found = channels.find(each);
    c.reply.bulk(each);
    c.reply.integer(found == channels.end() ? 0 : static_cast<std::int64_t>(found->second.size()));
  }
}

void pubsub_numpat(call& c) {
  c.reply.integer(static_cast<std::int64_t>(c.home.channels().patterns().size()));
}

void pubsub_help(call& c) {
  constexpr std::array<std::string_view, 4> lines = {
      "PUBSUB <subcommand>. Subcommands are:",
      "CHANNELS [PATTERN] -- channels that somebody hears.",
      "NUMPAT -- the number of patterns that somebody hears.",
      "NUMSUB [CHANNEL ...] -- how many hear each channel."};
  c.reply_lines(lines);
}

// clang-format off
const command_row pubsub_rows[] = {
    {"channels", -2, "pubsub loading stale", {0, 0, 0},
     "", "pubsub", "2.8.0",
     "channels that somebody hears", pubsub_channels},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "", "6.2.0",
     "what PUBSUB can do", pubsub_help},
    {"numpat", 2, "pubsub loading stale", {0, 0, 0},
     "", "pubsub", "2.8.0",
     "the number of patterns that somebody hears", pubsub_numpat},
    {"numsub", -2, "pubsub loading stale", {0, 0, 0},
     "", "pubsub", "2.8.0",
     "how many hear each channel", pubsub_numsub},
};

const command_row rows[] = {
    {"psubscribe", -2, "pubsub noscript loading stale", {0, 0, 0},
     "", "pubsub", "2.0.0",
     "hear channels that match patterns", psubscribe},
    {"publish", 3, "pubsub loading stale fast", {0, 0, 0},
     "", "pubsub", "2.0.0",
     "say something on a channel", publish},
    {"pubsub", -2, "", {0, 0, 0},
     "", "", "2.8.0",
     "look at channels and who hears them", nullptr, pubsub_rows},
    {"punsubscribe", -1, "pubsub noscript loading stale", {0, 0, 0},
     "", "pubsub", "2.0.0",
     "hear patterns no longer", punsubscribe},
    {"subscribe", -2, "pubsub noscript loading stale", {0, 0, 0},
     "", "pubsub", "2.0.0",
     "hear channels", subscribe},
    {"unsubscribe", -1, "pubsub noscript loading stale", {0, 0, 0},
     "", "pubsub", "2.0.0",
     "hear channels no longer", unsubscribe},
};
// clang-format on

}  // namespace

command_group pubsub_commands() { return {"pubsub", rows}; }

}  // namespace strata::runtime
