// Channels and patterns, and their subscribers.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cache/engine/clients/client.hpp"

namespace strata::runtime::cache {

class pubsub {
 public:
  struct text_hash {
    using is_transparent = void;
    using is_avalanching = void;
    std::size_t operator()(std::string_view text) const;
  };
  using table =
      boost::unordered_flat_map<std::string, std::vector<client*>, text_hash, std::equal_to<>>;

  /// The functions return whether the subscription changed.
  bool subscribe(client& client, std::string_view channel);
  bool unsubscribe(client& client, std::string_view channel);
  bool subscribe_pattern(client& client, std::string_view pattern);
  bool unsubscribe_pattern(client& client, std::string_view pattern);
  bool subscribe_shard(client& client, std::string_view channel);
  bool unsubscribe_shard(client& client, std::string_view channel);
  void leave(client& gone);

  /// Returns the number of receivers; a client that is subscribed twice receives the message twice.
  std::uint64_t publish(std::string_view channel, std::string_view message);

  /// Publishes to the subscribers of the shard channel.
  std::uint64_t publish_shard(std::string_view channel, std::string_view message);

  [[nodiscard]] const table& channels() const { return channels_; }
  [[nodiscard]] const table& patterns() const { return patterns_; }
  [[nodiscard]] const table& shard_channels() const { return shard_channels_; }

 private:
  static std::uint64_t deliver(const table& subscribed, std::string_view kind,
                               std::string_view channel, std::string_view message);

  table channels_;
  table patterns_;
  table shard_channels_;  // a separate namespace
};

}  // namespace strata::runtime::cache
