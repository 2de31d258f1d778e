// Creates AF_XDP and AF_PACKET sockets for unprivileged processes, as a policy allows.
//
// On threads of its own: one receives requests, and each socket is created by another, which waits
// if a queue is still in use. A user who asks for such queues does not delay others. Started and
// stopped by the daemon's thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "daemon/broker/refusal_log.hpp"
#include "daemon/broker/socket_policy.hpp"
#include "loop/socket_file.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::daemon {

/// Returns the broker's socket for a daemon with that control socket: `broker.sock` beside the
/// default `strata.sock`, and `NAME-broker.sock` beside any other `NAME.sock`, so that daemons with
/// control sockets in one folder do not collide.
[[nodiscard]] std::string broker_socket_beside(const std::string& control_socket);

class socket_broker {
 public:
  /// Listens at `path`, which every user may connect to; `policy_path` is read again for each
  /// request. Errors: those of the socket; already_exists if another process listens there; those
  /// of `socket_policy::read`.
  [[nodiscard]] result<void> start(const std::string& path, const std::string& policy_path);
  /// Revokes all that it granted, and ends.
  void stop();
  ~socket_broker() { stop(); }

 private:
  static constexpr std::size_t most_clients = 256;
  static constexpr std::ptrdiff_t most_of_a_user = 16;
  static constexpr std::ptrdiff_t most_at_once = 4;  ///< sockets of one user that are being created

  /// Kept for an AF_XDP socket; nullopt for others.
  using given = std::optional<xdp::grant>;
  enum class stage : std::uint8_t { asks, waits, is_served };

  struct client {
    unique_fd connection;
    broker::peer peer;
    stage at = stage::asks;
    std::string wants;    ///< the request's text for the log
    std::thread maker{};  ///< creates its socket while it waits
    given has{};
  };
  struct made {
    int connection;
    result<given> outcome;
  };

  void run();
  void accept_one();
  /// Whether to poll the client for a request or for its end.
  [[nodiscard]] bool is_polled(const client& client) const;
  /// Starts a thread that creates what the client asks for. Errors: the client is to be dropped.
  [[nodiscard]] result<void> begin(client& client);
  /// Collects the results of the threads.
  void collect();
  void refuse(const client& client, const error& why);

  loop::socket_file file_;
  std::string policy_path_;
  unique_fd listener_;
  unique_fd stopping_;
  unique_fd made_some_;
  bool has_no_descriptor_ = false;
  refusal_log refusals_;
  std::map<int, client> clients_;
  std::thread thread_;
  std::mutex made_lock_;
  std::vector<made> made_;
};

}  // namespace strata::daemon
