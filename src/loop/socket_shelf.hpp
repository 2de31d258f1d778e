// Listening sockets that this process got from another one: from the daemon that it takes over
// from, or from the service manager. A loop takes a socket from here before it binds one itself.
//
// From any thread.
#pragma once

#include <mutex>
#include <vector>

#include "loop/names/address.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::loop {

class socket_shelf {
 public:
  enum class stay : std::uint8_t {
    until_taken,
    always,  ///< its giver keeps it open, so that no other socket can have its address
  };

  /// The shelf of this process.
  [[nodiscard]] static socket_shelf& of_process();

  /// Keeps a listening stream or packet socket, or a bound datagram socket. Anything else is
  /// closed.
  void put(unique_fd socket, stay stay);
  /// Returns a socket of this type (as in socket(2)) that is bound to `address`, or none.
  /// `protocol`: as in socket(2); 0 is the default of the address family.
  [[nodiscard]] unique_fd take(const socket_address& address, int type, int protocol = 0);
  /// Whether `take` would return one.
  [[nodiscard]] bool has(const socket_address& address, int type, int protocol = 0) const;
  /// Whether it always keeps this socket, of which it has a descriptor of its own.
  [[nodiscard]] bool keeps(int socket) const;
  /// Closes the sockets that nobody has taken, and returns their addresses.
  std::vector<socket_address> close_untaken();

 private:
  struct kept_socket {
    unique_fd socket;
    socket_address address;
    int type;
    int protocol;
    stay how;
  };
  using socket_list = std::vector<kept_socket>;
  [[nodiscard]] socket_list::const_iterator find(const socket_address& address, int type,
                                                 int protocol) const;

  mutable std::mutex mutex_;
  socket_list sockets_;
};

/// Copies of all sockets of this process that others can reach: the listening ones, and the bound
/// datagram sockets of IP without a peer. Each socket is there once, however many descriptors it
/// has.
[[nodiscard]] std::vector<unique_fd> copies_of_listening_sockets();

}  // namespace strata::loop
