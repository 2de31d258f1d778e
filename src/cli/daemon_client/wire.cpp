#include "cli/daemon_client/wire.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "net/endpoint_url.hpp"
#include "net/scheme.hpp"
#include "net/tls/blocking_stream.hpp"
#include "options/own_folder.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::cli {

namespace {

using std::chrono::milliseconds;

// A daemon accepts connections at once, even if it is slow to answer.
constexpr milliseconds longest_connect(5000);
constexpr std::string_view how_to_start =
    "start a daemon with 'strata daemon --detach' or 'systemctl start strata', or name another "
    "socket with --socket";

milliseconds connect_limit(const daemon_address& daemon) {
  const bool is_endless = daemon.timeout == milliseconds::zero();
  return is_endless ? longest_connect : std::min(daemon.timeout, longest_connect);
}

timeval as_timeval(milliseconds time) {
  return {.tv_sec = time.count() / 1000, .tv_usec = time.count() % 1000 * 1000};
}

std::string why_unreachable(const std::string& socket, int failed, milliseconds waited) {
  struct stat found{};
  const bool is_socket = ::stat(socket.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
  switch (failed) {
    case ENOENT: return fmt::format("there is no such socket; {}", how_to_start);
    case ECONNREFUSED:
      if (!is_socket) return "that is not a socket; name the daemon's with --socket";
      return fmt::format("the socket is stale: its daemon has ended; {}", how_to_start);
    case EACCES:
    case EPERM:
      return "permission denied; use 'sudo strata', start the daemon with --socket-group and one "
             "of your groups, or run a daemon of your own";
    case EAGAIN:
      return fmt::format("the daemon has accepted no connection for {} s; it is stopped or stuck",
                         std::chrono::duration<double>(waited).count());
    default: return std::strerror(failed);
  }
}

/// Requests may hold secrets, and without a daemon any user might listen: so they are sent only to
/// a process of root or of our own user, through a socket that no other user could have put there.
outcome<> check_peer(int fd, const std::string& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return refuse(exit_failed, system_error(errno, "ask who listens at " + socket));
  }
  if (peer.uid != 0 && peer.uid != ::geteuid()) {
    return refuse(exit_unreachable,
                  fmt::format("the process at {} belongs to user {}, not to root or you (user {}), "
                              "so nothing was sent to it; name your daemon's socket with --socket, "
                              "or use 'sudo -u \\#{} strata' if you want that user's daemon",
                              socket, peer.uid, ::geteuid(), peer.uid));
  }
  if (auto trusted = options::check_socket_folder(socket); !trusted) {
    return refuse(exit_unreachable, trusted.error());
  }
  return {};
}

outcome<unique_fd> connect_to_socket(const daemon_address& daemon) {
  const auto& socket = daemon.socket;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.empty()) {
    return refuse(exit_misused,
                  "cannot find the daemon's socket: this user has no home folder; name the socket "
                  "with --socket or in STRATA_SOCKET");
  }
  if (socket.size() >= sizeof address.sun_path) {
    return refuse(exit_misused,
                  fmt::format("the socket's path '{}' is not 1 to {} bytes long; name a shorter "
                              "one with --socket",
                              socket, sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, socket.data(), socket.size());
  unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return refuse(exit_failed, system_error(errno, "make a socket"));
  const auto limit = as_timeval(connect_limit(daemon));
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  int failed = 0;
  do {
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    failed = ::connect(fd.get(), generic, sizeof address) == 0 ? 0 : errno;
  } while (failed == EINTR);
  if (failed != 0) {
    return refuse(exit_unreachable,
                  fmt::format("cannot reach the daemon at {}: {}", socket,
                              why_unreachable(socket, failed, connect_limit(daemon))));
  }
  if (auto trusted = check_peer(fd.get(), socket); !trusted) {
    return std::unexpected(trusted.error());
  }
  return fd;
}

class socket_wire final : public wire {
 public:
  explicit socket_wire(unique_fd connected) : fd_(std::move(connected)) {}

  bool send(std::string_view bytes) override {
    while (!bytes.empty()) {
      const auto sent = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return errno != EAGAIN;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  result<std::string> receive() override {
    std::array<char, 65536> buffer;
    ssize_t got = 0;
    do {
      got = ::recv(fd(), buffer.data(), buffer.size(), 0);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && errno != ECONNRESET) {
      return system_failure(errno == EAGAIN ? ETIMEDOUT : errno, "read the HTTP reply");
    }
    return std::string(buffer.data(), static_cast<std::size_t>(got < 0 ? 0 : got));
  }
  [[nodiscard]] int fd() const override { return fd_.get(); }

 private:
  unique_fd fd_;
};

class tls_wire final : public wire {
 public:
  explicit tls_wire(net::blocking_stream stream) : over_(std::move(stream)) {}

  bool send(std::string_view bytes) override {
    const auto sent = over_.send(as_bytes(bytes));
    return sent || sent.error().code != errc::timed_out;
  }
  result<std::string> receive() override { return over_.receive(); }
  [[nodiscard]] int fd() const override { return over_.fd(); }

 private:
  net::blocking_stream over_;
};

std::string of_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Client runtimes get this from flags; the command line reads it from its environment.
error in_own_words(error why) {
  static constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"give both --client-cert and --client-key",
       "give both STRATA_CLIENT_CERT and STRATA_CLIENT_KEY"},
      {"give the certificate of its authority with --ca FILE",
       "name the file with the certificate of its authority in STRATA_CA"},
      {"connect to that name, or give it with --servername",
       "use that name in STRATA_SOCKET or --socket"}};
  for (const auto& [flags, own] : words) {
    if (why.remedy == flags) why.remedy = own;
  }
  return why;
}

outcome<std::unique_ptr<wire>> connect_from_afar(const daemon_address& daemon) {
  const auto& where = daemon.socket;
  const auto url = net::parse_endpoint(where);
  if (!url) return refuse(exit_misused, describe(url.error()));
  if (!url->is_web() || !url->scheme->is_secure || !url->path.empty()) {
    return refuse(
        exit_misused,
        fmt::format("cannot use '{}' for a remote daemon: write https://HOST:PORT", where));
  }
  const net::tls_client_settings how{
      .ca = of_environment("STRATA_CA"),
      .certificate = {.certificate = of_environment("STRATA_CLIENT_CERT"),
                      .key = of_environment("STRATA_CLIENT_KEY")}};
  const auto limit = std::chrono::ceil<std::chrono::seconds>(connect_limit(daemon));
  auto connected = net::blocking_stream::connect(url->host, url->port, how, limit);
  if (!connected) {
    return refuse(exit_unreachable, fmt::format("cannot reach the daemon at {}: {}", where,
                                                describe(in_own_words(connected.error()))));
  }
  return std::make_unique<tls_wire>(std::move(*connected));
}

}  // namespace

void wire::wait_at_most(milliseconds limit) const {
  const auto longest = as_timeval(limit);
  ::setsockopt(fd(), SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  ::setsockopt(fd(), SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
}

outcome<std::unique_ptr<wire>> connect_to_daemon(const daemon_address& daemon) {
  if (daemon.socket.contains("://")) return connect_from_afar(daemon);
  auto connected = connect_to_socket(daemon);
  if (!connected) return std::unexpected(connected.error());
  return std::make_unique<socket_wire>(std::move(*connected));
}

std::string token_of_environment() { return of_environment("STRATA_TOKEN"); }

}  // namespace strata::cli
