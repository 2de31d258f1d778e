#include "runtime/cache/engine/clients/pubsub.hpp"

#include <algorithm>

#include "runtime/cache/engine/message_text.hpp"
#include "runtime/cache/values/hash.hpp"
#include "text/pattern.hpp"

namespace strata::runtime::cache {

namespace {

bool add(pubsub::table& table, client& client, std::string_view name) {
  auto& clients = table[std::string(name)];
  clients.push_back(&client);
  return true;
}

void take_out(pubsub::table& table, client& client, std::string_view name) {
  const auto found = table.find(name);
  if (found == table.end()) return;
  std::erase(found->second, &client);
  if (found->second.empty()) table.erase(found);
}

template <class Write>
void send(const std::vector<client*>& clients, Write&& write) {
  std::optional<message_text> as_resp2;
  std::optional<message_text> as_resp3;
  for (auto* each : clients) {
    auto& text = each->is_resp3() ? as_resp3 : as_resp2;
    if (!text) text.emplace(each->is_resp3() ? 3 : 2, write);
    each->push(text->slice());
  }
}

}  // namespace

std::size_t pubsub::text_hash::operator()(std::string_view text) const { return hash_of(text); }

bool pubsub::subscribe(client& client, std::string_view channel) {
  return client.channels.emplace(channel).second && add(channels_, client, channel);
}

bool pubsub::unsubscribe(client& client, std::string_view channel) {
  const auto found = client.channels.find(channel);
  if (found == client.channels.end()) return false;
  take_out(channels_, client, channel);
  client.channels.erase(found);
  return true;
}

bool pubsub::subscribe_pattern(client& client, std::string_view pattern) {
  return client.patterns.emplace(pattern).second && add(patterns_, client, pattern);
}

bool pubsub::unsubscribe_pattern(client& client, std::string_view pattern) {
  const auto found = client.patterns.find(pattern);
  if (found == client.patterns.end()) return false;
  take_out(patterns_, client, pattern);
  client.patterns.erase(found);
  return true;
}

bool pubsub::subscribe_shard(client& client, std::string_view channel) {
  return client.shard_channels.emplace(channel).second && add(shard_channels_, client, channel);
}

bool pubsub::unsubscribe_shard(client& client, std::string_view channel) {
  const auto found = client.shard_channels.find(channel);
  if (found == client.shard_channels.end()) return false;
  take_out(shard_channels_, client, channel);
  client.shard_channels.erase(found);
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
  return deliver(shard_channels_, "smessage", channel, message);
}

std::uint64_t pubsub::deliver(const table& subscribed, std::string_view kind,
                              std::string_view channel, std::string_view message) {
  const auto found = subscribed.find(channel);
  if (found == subscribed.end()) return 0;
  send(found->second, [&](proto::reply_writer& writer) {
    writer.push(3);
    writer.bulk(kind);
    writer.bulk(channel);
    writer.bulk(message);
  });
  return found->second.size();
}

std::uint64_t pubsub::publish(std::string_view channel, std::string_view message) {
  auto count = deliver(channels_, "message", channel, message);
  for (const auto& [pattern, clients] : patterns_) {
    if (!text::matches_pattern(pattern, channel)) continue;
    count += clients.size();
    send(clients, [&](proto::reply_writer& writer) {
      writer.push(4);
      writer.bulk("pmessage");
      writer.bulk(pattern);
      writer.bulk(channel);
      writer.bulk(message);
    });
  }
  return count;
}

}  // namespace strata::runtime::cache
