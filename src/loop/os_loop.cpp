#include "loop/os_loop.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "loop/datagram_buffers.hpp"
#include "loop/descriptor_reserve.hpp"
#include "loop/names/name_lookup.hpp"
#include "loop/packet_socket.hpp"
#include "loop/socket_file.hpp"
#include "loop/socket_shelf.hpp"

namespace strata::loop {

namespace {

constexpr int on = 1;
constexpr std::uint64_t max_of_file = 1U << 20U;  // sent per call

// A Unix socket's file outlives a killed process. It is stale if no process answers there.
result<void> remove_stale_socket(const socket_address& address) {
  struct stat found{};
  const std::string path = address.path();
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) {
    return failure(errc::already_exists, "listen on unix://" + path,
                   "a file that is not a socket is there", "choose another path or remove it");
  }
  const unique_fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) return system_failure(errno, "open a Unix socket");
  const bool answers =
      ::connect(probe.get(), address.data(), address.size()) == 0 || errno == EAGAIN;
  if (answers && !is_of_the_dead(probe)) {
    return system_failure(EADDRINUSE, "listen on unix://" + path,
                          "another process serves it: stop that one or choose another path");
  }
  if (answers || errno == ECONNREFUSED) ::unlink(path.c_str());
  return {};
}

std::string open_remedy(int sys_errno) {
  if (sys_errno == EACCES) return "use a port from 1024 or grant CAP_NET_BIND_SERVICE";
  if (sys_errno == EADDRNOTAVAIL) return "use an address of this machine (see 'ip address')";
  return {};
}

// Opens a socket to be bound to `address`, if there is one. A socket for every address also
// receives IPv4, and is IPv4 alone if the kernel has no IPv6.
result<unique_fd> open_socket(int family, socket_address& address, int type, int protocol) {
  const int flags = type | SOCK_CLOEXEC | SOCK_NONBLOCK;
  unique_fd made(::socket(family, flags, protocol));
  if (!made && errno == EAFNOSUPPORT && address.is_every()) {
    address = *socket_address::from_ip("0.0.0.0", address.port());
    made = unique_fd(::socket(address.family(), flags, protocol));
  }
  if (!made) {
    const bool is_to_listen = address.size() != 0;
    return system_failure(errno, is_to_listen ? "listen on " + address.text() : "open a socket",
                          open_remedy(errno));
  }
  if (family == AF_INET6 && address.family() != AF_INET) {
    const int is_alone = address.is_every() ? 0 : 1;
    ::setsockopt(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, &is_alone, sizeof is_alone);
  }
  return made;
}

// The giver may have shared the port among fewer loops, and listened with another backlog.
result<unique_fd> prepare_taken(unique_fd socket, const socket_address& address,
                                const listen_options& options) {
  const auto operation = "listen on " + address.text();
  if (options.share_port) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (::listen(socket.get(), options.backlog) != 0) return system_failure(errno, operation);
  if (options.mode) {
    if (auto set = set_socket_mode(address.path(), *options.mode); !set) {
      return std::unexpected(set.error());
    }
  }
  return socket;
}

result<unique_fd> bind_stream(const socket_address& place, const listen_options& options) {
  auto address = place;
  if (auto taken = socket_shelf::of_process().take(address, SOCK_STREAM, options.protocol)) {
    return prepare_taken(std::move(taken), address, options);
  }
  const std::string operation = "listen on " + address.text();
  if (address.family() == AF_UNIX) {
    if (auto removed = remove_stale_socket(address); !removed) {
      return std::unexpected(removed.error());
    }
  }
  auto opened = open_socket(address.family(), address, SOCK_STREAM, options.protocol);
  if (!opened) return opened;
  auto& made = *opened;
  if (address.family() != AF_UNIX) {
    ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    // Accepted sockets inherit it, which saves one system call each.
    ::setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (options.share_port) ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  }
  // The file gets the mode of the socket, less the umask, so the requested mode is the most it can
  // be.
  if (options.mode && ::fchmod(made.get(), *options.mode) != 0) {
    return system_failure(errno, operation);
  }
  if (::bind(made.get(), address.data(), address.size()) != 0 ||
      ::listen(made.get(), options.backlog) != 0) {
    return system_failure(errno, operation, open_remedy(errno));
  }
  if (options.mode) {
    if (auto set = set_socket_mode(address.path(), *options.mode); !set) {
      return std::unexpected(set.error());
    }
  }
  return opened;
}

result<unique_fd> bind_datagram(int family, const socket_address& place,
                                const listen_options& options) {
  auto address = place;
  const bool is_bound = address.size() != 0;
  auto taken = is_bound ? socket_shelf::of_process().take(address, SOCK_DGRAM) : unique_fd();
  if (taken) {
    if (options.share_port) ::setsockopt(taken.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    if (address.is_any()) ask_for_sources(taken.get(), address.family());
    return taken;
  }
  auto opened = open_socket(family, address, SOCK_DGRAM, 0);
  if (!opened) return opened;
  auto& made = *opened;
  if (options.share_port) ::setsockopt(made.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (is_bound && ::bind(made.get(), address.data(), address.size()) != 0) {
    return system_failure(errno, "listen on " + address.text(), open_remedy(errno));
  }
  if (address.is_any()) ask_for_sources(made.get(), address.family());
  return opened;
}

result<void> success_of(const result<unique_fd>& fd) {
  if (!fd) return std::unexpected(fd.error());
  return {};
}

}  // namespace

// A caller that waits for a lookup.
struct os_loop::resolution {
  std::coroutine_handle<> waiter;  // used only on the loop's thread; null once given up
  found_host answer;
};

os_loop::os_loop() : wake_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_fd_) wake_errno_ = errno;
}

result<void> os_loop::check_wake_fd() const {
  if (wake_fd_) return {};
  return system_failure(wake_errno_, "make a loop's eventfd");
}

time_point os_loop::read_clock() const { return std::chrono::steady_clock::now(); }

void os_loop::wake() {
  const std::uint64_t one = 1;
  // EAGAIN means that the counter is full: the loop has already been woken.
  while (::write(wake_fd_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void os_loop::drain_wake_fd() const {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto taken = ::read(wake_fd_.get(), &count, sizeof count);
}

result<descriptor> os_loop::listen(const socket_address& address, const listen_options& options) {
  auto made = bind_stream(address, options);
  if (!made) return std::unexpected(made.error());
  return adopt(made->release());
}

result<void> os_loop::probe_stream(const socket_address& address, int protocol) {
  if (socket_shelf::of_process().has(address, SOCK_STREAM, protocol)) return {};
  return success_of(bind_stream(address, {.protocol = protocol}));
}

result<descriptor> os_loop::open_stream(int family, int protocol) {
  // Not a `descriptor` until it may be used: the loop closes later, and until then its number would
  // be taken.
  unique_fd made(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  if (!made) return system_failure(errno, "open a stream socket", open_remedy(errno));
  if (made.get() >= first_kept_descriptor()) {
    return std::unexpected(no_descriptor_left("open a stream socket"));
  }
  if (family != AF_UNIX) ::setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return adopt(made.release());
}

result<descriptor> os_loop::open_datagram(int family, const socket_address& address,
                                          const listen_options& options) {
  auto made = bind_datagram(family, address, options);
  if (!made) return std::unexpected(made.error());
  // A bound socket is the operator's: a runtime listens there.
  if (address.size() == 0 && made->get() >= first_kept_descriptor()) {
    return std::unexpected(no_descriptor_left("open a datagram socket"));
  }
  return adopt(made->release());
}

result<void> os_loop::probe_datagram(const socket_address& address) {
  if (socket_shelf::of_process().has(address, SOCK_DGRAM)) return {};
  return success_of(bind_datagram(address.family(), address, {}));
}

result<descriptor> os_loop::open_append(const std::string& path) {
  auto made =
      open_regular(path, O_WRONLY | O_CREAT | O_APPEND, "open '" + path + "' for appending");
  if (!made) return std::unexpected(made.error());
  return adopt(made->release());
}

socket_address os_loop::local_address(const descriptor& descriptor) const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(descriptor.fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return {reinterpret_cast<const sockaddr*>(&address), size};
}

socket_address os_loop::remote_address(const descriptor& descriptor) const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(descriptor.fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return {reinterpret_cast<const sockaddr*>(&address), size};
}

std::size_t os_loop::unacknowledged(const descriptor& descriptor) const {
  int bytes = 0;
  return ::ioctl(descriptor.fd(), SIOCOUTQ, &bytes) == 0 && bytes > 0
             ? static_cast<std::size_t>(bytes)
             : 0;
}

void os_loop::shut_down(const descriptor& descriptor) { ::shutdown(descriptor.fd(), SHUT_RDWR); }

// As in Redis: three probes, a third of the interval apart, before the connection is given up.
void os_loop::keep_alive(const descriptor& descriptor, std::chrono::seconds interval) {
  constexpr std::int64_t longest_s = 32767;  // the kernel's MAX_TCP_KEEPIDLE
  const auto idle_s = static_cast<int>(std::min<std::int64_t>(interval.count(), longest_s));
  const int probe_s = std::max(idle_s / 3, 1);
  const int probes = 3;
  ::setsockopt(descriptor.fd(), IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  ::setsockopt(descriptor.fd(), IPPROTO_TCP, TCP_KEEPINTVL, &probe_s, sizeof probe_s);
  ::setsockopt(descriptor.fd(), IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  ::setsockopt(descriptor.fd(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

void os_loop::shut_down_send(const descriptor& descriptor) { ::shutdown(descriptor.fd(), SHUT_WR); }

void os_loop::send_at_once(const descriptor& descriptor, byte_span bytes) {
  (void)::send(descriptor.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

int os_loop::send_file_now(int fd, const file_part& part) {
  auto offset = static_cast<off_t>(part.offset);
  const auto most = static_cast<std::size_t>(std::min(part.count, max_of_file));
  for (;;) {
    const auto taken = ::sendfile(fd, part.fd, &offset, most);
    if (taken >= 0) return static_cast<int>(taken);
    if (errno != EINTR) return -errno;
  }
}

task<result<std::vector<socket_address>>> os_loop::resolve(std::string host, std::uint16_t port) {
  auto found = co_await look_up(std::move(host), port, name_lookup::depth::addresses);
  if (!found) co_return std::unexpected(found.error());
  co_return std::move(found->addresses);
}

task<result<host_records>> os_loop::resolve_records(std::string host, std::uint16_t port) {
  auto found = co_await look_up(std::move(host), port, name_lookup::depth::with_lifetime);
  co_return found;
}

task<found_host> os_loop::look_up(std::string host, std::uint16_t port, name_lookup::depth depth) {
  if (auto numeric = socket_address::from_ip(host, port)) {
    host_records known;
    known.addresses.push_back(*numeric);
    co_return known;
  }
  struct answer_awaiter {
    os_loop& on;
    const std::string& host;
    name_lookup::depth depth;
    std::shared_ptr<resolution> asked = std::make_shared<resolution>();
    name_lookup lookup = {};

    answer_awaiter(os_loop& loop, const std::string& text, name_lookup::depth deep)
        : on(loop), host(text), depth(deep) {}
    answer_awaiter(const answer_awaiter&) = delete;
    answer_awaiter& operator=(const answer_awaiter&) = delete;
    ~answer_awaiter() { asked->waiter = {}; }
    [[nodiscard]] bool await_ready() const { return false; }
    [[nodiscard]] bool await_suspend(std::coroutine_handle<> self) {
      asked->waiter = self;
      // The loop exists for as long as this waits.
      auto started = lookup.start(host, depth, [&home = on, asked = asked](const auto& found) {
        asked->answer = found;
        home.post([asked] {
          if (asked->waiter) asked->waiter.resume();
        });
      });
      if (!started) asked->answer = std::unexpected(started.error());
      return started.has_value();
    }
    found_host await_resume() const { return std::move(asked->answer); }
  };
  answer_awaiter answer(*this, host, depth);
  auto found = co_await answer;
  if (found) {
    for (auto& each : found->addresses) each.set_port(port);
  }
  co_return found;
}

bool polls_kernel_descriptors(const class loop& loop) { return loop.backend() != "simulation"; }

int accept_waiting(const class loop& loop, const descriptor& listening) {
  if (!polls_kernel_descriptors(loop)) return -EAGAIN;
  const int accepted = ::accept4(listening.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  return accepted >= 0 ? accepted : -errno;
}

}  // namespace strata::loop
