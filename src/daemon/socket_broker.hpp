// Makes AF_XDP and AF_PACKET sockets for processes without privileges, as a policy allows.
//
// On a thread of its own, since a queue that is still held is waited for: the loops go on
// meanwhile. Started and stopped by the daemon's thread.
#pragma once

#include <map>
#include <string>
#include <thread>

#include "daemon/socket_policy.hpp"
#include "loop/socket_file.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::daemon {

class socket_broker {
 public:
  /// Listens at `path`, which everybody may connect to; `policy_path` is read again for each
  /// request. Errors: of the socket; those of `socket_policy::read`.
  [[nodiscard]] result<void> start(const std::string& path, const std::string& policy_path);
  /// Takes back all that it gave, and ends.
  void stop();
  ~socket_broker() { stop(); }

 private:
  static constexpr std::size_t most_clients = 256;
  static constexpr std::ptrdiff_t most_of_a_user = 16;

  struct client {
    unique_fd connection;
    broker::peer peer;
    bool is_served = false;
    std::optional<xdp::grant> given;  ///< kept for an AF_XDP socket
  };

  void run();
  void accept_one();
  /// False when the client has gone, or is to go.
  bool serve(client& who);
  [[nodiscard]] result<void> answer(client& to);

  loop::socket_file file_;
  std::string policy_path_;
  unique_fd listener_;
  unique_fd stopping_;
  std::map<int, client> clients_;
  std::thread thread_;
};

}  // namespace strata::daemon
