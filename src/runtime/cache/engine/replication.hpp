// The commands' interface to the replication with other caches: this cache's followers, and its
// leader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::runtime::cache {

class client;

/// A follower of this cache, for INFO and ROLE.
struct follower_figures {
  std::string address;  ///< without the port; as announced, or as seen
  unsigned port = 0;    ///< its listening port, as announced
  bool is_online = false;
  std::uint64_t acknowledged = 0;
  std::int64_t lag_s = 0;
};

/// The snapshot of a leader that is being received.
struct snapshot_transfer {
  std::uint64_t size = 0;  ///< in bytes; 0: the leader has not said it
  std::uint64_t received = 0;
};

struct replication_figures {
  std::string id;
  std::uint64_t offset = 0;
  std::uint64_t backlog_size = 0;
  std::uint64_t backlog_begin = 0;
  std::vector<follower_figures> followers;
  std::size_t prompt_followers = 0;  ///< that acknowledged within min-replicas-max-lag

  bool is_follower = false;
  std::string leader_host;
  unsigned leader_port = 0;
  std::string_view link_state;  ///< "connect", "connecting", "sync" or "connected"
  std::int64_t silent_s = -1;
  std::optional<std::int64_t> down_s;  ///< since when it is not connected; nullopt: it never was
  snapshot_transfer transfer;
  std::uint64_t followed_offset = 0;

  std::string previous_id;         ///< of the leader whose place this cache took; empty: none
  std::uint64_t previous_end = 0;  ///< the first offset that its stream does not have
  std::string_view failover_state = "no-failover";
};

/// What FAILOVER asks for.
struct failover_request {
  std::string host;  ///< of the follower that is to lead; empty: the first that has everything
  std::int64_t port = 0;
  std::optional<std::int64_t> timeout_ms;
  bool is_forced = false;  ///< after the timeout, the follower leads though it lacks changes
};

/// What MIGRATE asks for.
struct migration_request {
  std::string host;
  std::string port;  ///< as the client gave it
  std::string database;
  std::int64_t timeout_ms = 0;
  std::string user;
  std::string password;
  bool has_password = false;
  bool keeps_keys = false;  ///< COPY
  bool replaces = false;
  std::vector<std::string> keys;
};

class replication {
 public:
  virtual void follow(std::string host, std::uint16_t port) = 0;
  virtual void follow_nobody() = 0;
  /// Ends the connection to the leader, which is then made again. Returns false if there is none.
  virtual bool cut_link() = 0;
  /// Begins to hand the leadership to a follower. Returns Redis's error text after "ERR "; empty if
  /// it has begun.
  [[nodiscard]] virtual std::string begin_failover(failover_request request) = 0;
  /// Returns false if there is no failover.
  [[nodiscard]] virtual bool abort_failover() = 0;
  [[nodiscard]] virtual bool is_failing_over() const = 0;
  /// PSYNC … FAILOVER: makes this follower a leader. Returns Redis's error text after "ERR "; empty
  /// if it leads.
  [[nodiscard]] virtual std::string take_over(std::string_view id) = 0;
  /// MIGRATE: moves existing keys to another server. The client, which must wait, gets the reply
  /// when that is done.
  virtual void migrate(client& client, migration_request request) = 0;
  /// Returns the leader in the format of the option --follow; empty if there is none.
  [[nodiscard]] virtual std::string leader_url() const = 0;
  /// REPLCONF: sets a follower's properties. Returns Redis's error text after "ERR "; empty if
  /// there is no error.
  virtual std::string configure(client& client, std::string_view option,
                                std::string_view value) = 0;
  /// Records that a follower has everything up to `offset`, and everything up to `synced` on its
  /// disk.
  virtual void acknowledge(client& who, std::uint64_t offset, std::uint64_t synced) = 0;
  /// PSYNC: makes the client a follower; replies to it. `start` is the first byte that it requests.
  virtual void synchronise(client& client, std::string_view id, std::int64_t start) = 0;
  /// SYNC: makes the client a follower from the beginning; it will not acknowledge what it
  /// receives.
  virtual void send_everything(client& client) = 0;
  virtual void forget(client& client) = 0;
  /// Return how many followers have everything up to `offset`, and ask the others to acknowledge.
  [[nodiscard]] virtual std::size_t count_followers(std::uint64_t offset) const = 0;
  virtual void ask_followers() = 0;
  /// Returns how many followers have everything up to `offset` on their disks.
  [[nodiscard]] virtual std::size_t count_synced_followers(std::uint64_t offset) const = 0;
  /// Notifies `client` when `count` followers have everything up to now.
  virtual void wait_for_followers(client& client, std::size_t count) = 0;
  [[nodiscard]] virtual replication_figures figures() const = 0;

 protected:
  ~replication() = default;
};

}  // namespace strata::runtime::cache
