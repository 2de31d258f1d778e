// What commands ask of whoever speaks with other caches: those that follow this one, and the one
// that this one follows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::runtime::cache {

class client;

/// The followers of this cache, as INFO and ROLE show it.
struct follower_figures {
  std::string address;  ///< without the port; as it announces it, or as it is seen
  unsigned port = 0;    ///< on which it listens, as it said
  bool is_online = false;
  std::uint64_t acknowledged = 0;
  std::int64_t lag_s = 0;
};

struct replication_figures {
  std::string id;
  std::uint64_t offset = 0;
  std::uint64_t backlog_size = 0;
  std::uint64_t backlog_begin = 0;
  std::vector<follower_figures> followers;
  std::size_t prompt_followers = 0;  ///< heard of within min-replicas-max-lag

  bool is_follower = false;
  std::string leader_host;
  unsigned leader_port = 0;
  std::string_view link_state;  ///< "connect", "connecting", "sync" or "connected"
  std::int64_t silent_s = -1;
  std::uint64_t followed_offset = 0;
};

class replication {
 public:
  virtual void follow(std::string host, std::uint16_t port) = 0;
  virtual void follow_nobody() = 0;
  /// Whom it follows, as the option --follow says it; empty: nobody.
  [[nodiscard]] virtual std::string leader_url() const = 0;
  /// REPLCONF: what a follower says of itself. Gives what Redis says of an error behind "ERR ";
  /// empty: none.
  virtual std::string configure(client& client, std::string_view option,
                                std::string_view value) = 0;
  /// A follower has everything up to there.
  virtual void acknowledge(client& who, std::uint64_t offset) = 0;
  /// PSYNC: from now on the client is a follower; replies to it. `start` is the first byte that it
  /// wants.
  virtual void synchronise(client& client, std::string_view id, std::int64_t start) = 0;
  /// SYNC: the same, without a past, for a client that will not acknowledge what it gets.
  virtual void send_everything(client& client) = 0;
  virtual void forget(client& client) = 0;
  /// How many followers have everything up to `offset`, and asking the others to say so.
  [[nodiscard]] virtual std::size_t count_followers(std::uint64_t offset) const = 0;
  virtual void ask_followers() = 0;
  /// `client` is told when `count` followers have what there is now.
  virtual void wait_for_followers(client& client, std::size_t count) = 0;
  [[nodiscard]] virtual replication_figures figures() const = 0;

 protected:
  ~replication() = default;
};

}  // namespace strata::runtime::cache
