#include "strata/ipc/channel.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>
#include <thread>
#include <tuple>

#include "ipc/port.hpp"
#include "ipc/stop_event.hpp"
#include "strata/l2/raw_socket.hpp"

namespace strata::ipc {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::uint64_t random_id() {
  std::random_device source;
  return std::uint64_t{source()} << 32U | source();
}

// Returns half of the granted buffer, since the kernel also counts its own overhead per frame; the
// kernel reports twice the requested size.
std::size_t granted_window(int fd) {
  int granted = 0;
  socklen_t size = sizeof granted;
  if (::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &granted, &size) != 0) return 0;
  return static_cast<std::size_t>(granted) / 4;
}

// Returns ppoll's timeout for `limit`; nullopt means forever.
std::optional<timespec> time_left(std::optional<clock::time_point> limit) {
  if (!limit) return std::nullopt;
  const auto rest = std::max(*limit - clock::now(), clock::duration::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(rest);
  return timespec{.tv_sec = seconds.count(), .tv_nsec = (rest - seconds).count()};
}

}  // namespace

channel::channel(std::unique_ptr<port> port, const channel_config& config)
    : port_(std::move(port)), send_timeout_(config.send_timeout) {}
channel::channel(channel&&) noexcept = default;

channel& channel::operator=(channel&& other) noexcept {
  if (this != &other) {
    if (port_) port_->close(clock::now());
    port_ = std::move(other.port_);
    send_timeout_ = other.send_timeout_;
  }
  return *this;
}

channel::~channel() {
  if (port_) port_->close(clock::now());
}

result<channel> channel::create(const channel_config& config) {
  const auto endpoint = random_id();
  const auto group = ipc_group(wire::ipc_channel_id(config.channel));
  const l2::raw_socket_options options{.filter = {.ethertype = config.ethertype,
                                                  .destination = group,
                                                  .not_source = ipc_source(endpoint)},
                                       .multicast = {group},
                                       .receive_buffer = config.receive_buffer};
  auto socket = l2::raw_socket::create_bound(config.interface_name, options);
  if (!socket) return std::unexpected(socket.error());
  const auto window = granted_window(socket->fd());
  auto port = port::create(config, std::make_unique<l2::raw_socket>(std::move(*socket)), endpoint,
                           window, clock::now());
  if (!port) return std::unexpected(port.error());
  return channel(std::move(*port), config);
}

result<channel> channel::create(const channel_config& config, std::unique_ptr<l2::device> device) {
  auto port =
      port::create(config, std::move(device), random_id(), config.receive_buffer / 2, clock::now());
  if (!port) return std::unexpected(port.error());
  return channel(std::move(*port), config);
}

// Waits until the channel can continue or the other descriptor is readable; returns false at
// `limit`.
result<bool> channel::wait(std::optional<time_point> limit, int other_fd) const {
  if (limit && clock::now() >= *limit) return false;
  if (fd() < 0) {
    std::this_thread::yield();
    return true;
  }
  auto until = port_->deadline();
  if (limit) until = std::min(until.value_or(*limit), *limit);
  const auto left = time_left(until);
  const auto events = static_cast<short>(POLLIN | (wants_to_write() ? POLLOUT : 0));
  std::array<pollfd, 2> asked{pollfd{.fd = fd(), .events = events, .revents = 0},
                              pollfd{.fd = other_fd, .events = POLLIN, .revents = 0}};
  if (::ppoll(asked.data(), asked.size(), left ? &*left : nullptr, nullptr) < 0 && errno != EINTR) {
    return system_failure(errno, "wait on " + port_->name());
  }
  return true;
}

// Sets `limit` when it must wait for the first time.
result<void> channel::put(byte_span message, std::optional<time_point>& limit) {
  for (;;) {
    const auto taken = port_->post(message, true, clock::now());
    if (!taken) return std::unexpected(taken.error());
    if (*taken) return {};
    if (auto flushed = flush(); !flushed) return flushed;
    if (!limit) limit = clock::now() + send_timeout_;
    const auto waited = wait(limit);
    if (!waited) return std::unexpected(waited.error());
    if (!*waited) {
      return failure(errc::timed_out, "send on " + port_->name(),
                     "no buffer became free in " + std::to_string(send_timeout_.count()) + " ms" +
                         (port_->is_acknowledged() && !has_peer() ? ", and there is no peer" : ""),
                     "check that the peer runs and receives, or send less");
    }
    if (auto turned = turn(); !turned) return turned;
  }
}

result<void> channel::send(byte_span message) { return send_batch({&message, 1}); }

result<void> channel::send_batch(std::span<const byte_span> messages) {
  std::optional<time_point> limit;
  for (const auto& each : messages) {
    if (port_->post_beside(each)) continue;
    if (auto taken = put(each, limit); !taken) {
      std::ignore = flush();  // earlier messages
      return taken;
    }
  }
  return flush();
}

result<bool> channel::post(byte_span message) {
  if (port_->post_beside(message)) return true;
  return port_->post(message, false, clock::now());
}

result<void> channel::flush() { return port_->flush(clock::now()); }

result<void> channel::finish(milliseconds timeout) {
  const auto limit = clock::now() + timeout;
  if (auto flushed = flush(); !flushed) return flushed;
  while (!port_->is_finished()) {
    const auto waited = wait(limit);
    if (!waited) return std::unexpected(waited.error());
    if (!*waited) {
      return failure(errc::timed_out, "finish sending on " + port_->name(),
                     std::to_string(port_->unfinished()) + " frames are left after " +
                         std::to_string(timeout.count()) + " ms");
    }
    if (auto turned = turn(); !turned) return turned;
  }
  return {};
}

result<std::optional<message>> channel::try_receive_view() {
  if (auto more = port_->next_beside()) return more;
  return port_->next(clock::now());
}

result<std::optional<std::vector<std::byte>>> channel::try_receive() {
  const auto found = try_receive_view();
  if (!found) return std::unexpected(found.error());
  if (!*found) return std::nullopt;
  return std::vector<std::byte>((*found)->bytes.begin(), (*found)->bytes.end());
}

// In acknowledged mode, receiving sends waiting frames itself.
result<void> channel::send_waiting() { return port_->is_acknowledged() ? result<void>{} : turn(); }

result<std::vector<std::byte>> channel::receive() {
  for (;;) {
    auto found = try_receive();
    if (!found) return std::unexpected(found.error());
    if (*found) return std::move(**found);
    if (const auto waited = wait(std::nullopt); !waited) return std::unexpected(waited.error());
    if (auto sent = send_waiting(); !sent) return std::unexpected(sent.error());
  }
}

result<std::vector<std::byte>> channel::receive_with_timeout(milliseconds timeout) {
  const auto limit = clock::now() + timeout;
  for (;;) {
    auto found = try_receive();
    if (!found) return std::unexpected(found.error());
    if (*found) return std::move(**found);
    const auto waited = wait(limit);
    if (!waited) return std::unexpected(waited.error());
    if (!*waited) {
      std::string reason = "none arrived in " + std::to_string(timeout.count()) + " ms";
      if (port_->is_refused()) {
        reason += "; the channel already has two ends";
      } else if (port_->is_acknowledged() && !has_peer()) {
        reason += "; there is no peer yet";
      }
      return failure(errc::timed_out, "receive a message on " + port_->name(), std::move(reason));
    }
    if (auto sent = send_waiting(); !sent) return std::unexpected(sent.error());
  }
}

result<void> channel::receive_each(const std::function<bool(const message&)>& handler,
                                   const std::stop_token& stop) {
  const auto receive = [this] { return try_receive_view(); };
  const auto wait_beside = [this](int stop_fd) -> result<void> {
    const auto waited = wait(std::nullopt, stop_fd);
    if (!waited) return std::unexpected(waited.error());
    return send_waiting();
  };
  return receive_until(stop, handler, receive, wait_beside);
}

result<void> channel::turn() { return port_->turn(clock::now()); }
int channel::fd() const { return port_->over().fd(); }
bool channel::wants_to_write() const { return port_->wants_to_write(); }
std::optional<channel::time_point> channel::deadline() const { return port_->deadline(); }
const l2::interface& channel::link() const { return port_->over().link(); }
bool channel::has_peer() const { return port_->has_peer(); }
std::uint64_t channel::id() const { return port_->id(); }
channel_statistics channel::statistics() const { return port_->statistics(); }

}  // namespace strata::ipc
