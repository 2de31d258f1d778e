#include "loop/packet_socket.hpp"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "loop/names/address.hpp"
#include "loop/socket_file.hpp"
#include "loop/socket_shelf.hpp"

namespace strata::loop {

namespace {

constexpr int backlog = 16;

unique_fd open_packet_socket(int flags = 0) {
  return unique_fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
}

// Removes a socket left behind by an earlier daemon, but not one with a listener.
result<void> clear(const socket_address& address, const std::string& operation) {
  const auto path = address.path();
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return {};
  const auto probe = open_packet_socket(SOCK_NONBLOCK);
  if (!probe) return system_failure(errno, operation);
  const bool is_left =
      S_ISSOCK(found.st_mode) &&
      (::connect(probe.get(), address.data(), address.size()) != 0 ? errno == ECONNREFUSED
                                                                   : is_of_the_dead(probe));
  if (!is_left) {
    return failure(
        errc::already_exists, operation,
        S_ISSOCK(found.st_mode) ? "another process listens there" : "another file exists there",
        "stop or remove it, or start the daemon with another --socket");
  }
  if (::unlink(path.c_str()) != 0) return system_failure(errno, operation);
  return {};
}

}  // namespace

bool is_of_the_dead(const unique_fd& connected) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(connected.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.pid > 0 && ::kill(peer.pid, 0) != 0 && errno == ESRCH;
}

result<unique_fd> listen_for_packets(const std::string& path, mode_t mode,
                                     const std::string& operation) {
  const auto address = socket_address::from_path(path);
  if (!address) return std::unexpected(address.error());
  if (auto taken = socket_shelf::of_process().take(*address, SOCK_SEQPACKET)) {
    // From now on it is this process's, whichever has listened first.
    if (::listen(taken.get(), backlog) != 0) return system_failure(errno, operation);
    return taken;
  }
  if (auto cleared = clear(*address, operation); !cleared) {
    return std::unexpected(cleared.error());
  }
  auto made = open_packet_socket(SOCK_NONBLOCK);
  if (!made) return system_failure(errno, operation);
  // No other user may connect from bind(2) on, unless the mode allows it.
  const auto before = ::umask(0177);
  const bool is_bound = ::bind(made.get(), address->data(), address->size()) == 0;
  const int code = errno;
  ::umask(before);
  if (!is_bound) return system_failure(code, operation);
  if (auto opened = set_socket_mode(path, mode); !opened) {
    return std::unexpected(opened.error());
  }
  if (::listen(made.get(), backlog) != 0) return system_failure(errno, operation);
  return made;
}

result<unique_fd> connect_for_packets(const std::string& path, const std::string& operation) {
  const auto address = socket_address::from_path(path);
  if (!address) return std::unexpected(address.error());
  auto made = open_packet_socket();
  if (!made || ::connect(made.get(), address->data(), address->size()) != 0) {
    return system_failure(errno, operation);
  }
  return made;
}

}  // namespace strata::loop
