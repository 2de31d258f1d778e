#include "runtime/cache/engine/pubsub.hpp"

#include <algorithm>

#include "runtime/cache/engine/message_text.hpp"
#include "runtime/cache/values/hash.hpp"
#include "text/pattern.hpp"

namespace strata::runtime::cache {

namespace {

bool add(pubsub::table& to, client& who, std::string_view name) {
  auto& clients = to[std::string(name)];
  clients.push_back(&who);
  return true;
}

void take_out(pubsub::table& from, client& who, std::string_view name) {
  const auto found = from.find(name);
  if (found == from.end()) return;
  std::erase(found->second, &who);
  if (found->second.empty()) from.erase(found);
}

template <class Write>
void tell(const std::vector<client*>& clients, Write&& write) {
  std::optional<message_text> as_resp2;
  std::optional<message_text> as_resp3;
  for (auto* each : clients) {
    auto& text = each->is_resp3() ? as_resp3 : as_resp2;
    if (!text) text.emplace(each->is_resp3() ? 3 : 2, write);
    each->push(text->slice());
  }
}

}  // namespace

std::size_t pubsub::text_hash::operator()(std::string_view of) const { return hash_of(of); }

bool pubsub::subscribe(client& who, std::string_view channel) {
  return who.channels.emplace(channel).second && add(channels_, who, channel);
}

bool pubsub::unsubscribe(client& who, std::string_view channel) {
  const auto found = who.channels.find(channel);
  if (found == who.channels.end()) return false;
  take_out(channels_, who, channel);
  who.channels.erase(found);
  return true;
}

bool pubsub::subscribe_pattern(client& who, std::string_view pattern) {
  return who.patterns.emplace(pattern).second && add(patterns_, who, pattern);
}

bool pubsub::unsubscribe_pattern(client& who, std::string_view pattern) {
  const auto found = who.patterns.find(pattern);
  if (found == who.patterns.end()) return false;
  take_out(patterns_, who, pattern);
  who.patterns.erase(found);
  return true;
}

bool pubsub::subscribe_shard(client& who, std::string_view channel) {
  return who.shard_channels.emplace(channel).second && add(shard_channels_, who, channel);
}

bool pubsub::unsubscribe_shard(client& who, std::string_view channel) {
  const auto found = who.shard_channels.find(channel);
  if (found == who.shard_channels.end()) return false;
  take_out(shard_channels_, who, channel);
  who.shard_channels.erase(found);
  return true;
}

void pubsub::leave(client& gone) {
  for (const auto& each : gone.channels) take_out(channels_, gone, each);
  for (const auto& each : gone.patterns) take_out(patterns_, gone, each);
  for (const auto& each : gone.shard_channels) take_out(shard_channels_, gone, each);
  gone.channels.clear();
  gone.patterns.clear();
  gone.shard_channels.clear();
}

std::uint64_t pubsub::publish_shard(std::string_view channel, std::string_view message) {
  return tell_of(shard_channels_, "smessage", channel, message);
}

std::uint64_t pubsub::tell_of(const table& subscribed, std::string_view kind,
                              std::string_view channel, std::string_view message) {
  const auto found = subscribed.find(channel);
  if (found == subscribed.end()) return 0;
  tell(found->second, [&](proto::reply_writer& to) {
    to.push(3);
    to.bulk(kind);
    to.bulk(channel);
    to.bulk(message);
  });
  return found->second.size();
}

std::uint64_t pubsub::publish(std::string_view channel, std::string_view message) {
  auto heard = tell_of(channels_, "message", channel, message);
  for (const auto& [pattern, clients] : patterns_) {
    if (!text::matches_pattern(pattern, channel)) continue;
    heard += clients.size();
    tell(clients, [&](proto::reply_writer& to) {
      to.push(4);
      to.bulk("pmessage");
      to.bulk(pattern);
      to.bulk(channel);
      to.bulk(message);
    });
  }
  return heard;
}

}  // namespace strata::runtime::cache
