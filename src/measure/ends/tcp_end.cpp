// The paths over TCP: contiguous messages of one size.
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "measure/ends/end.hpp"
#include "measure/ends/inet_socket.hpp"

namespace strata::measure {

namespace {

bool is_wait(int code) { return code == EAGAIN || code == EINTR; }

class tcp_stream final : public sender, public receiver {
 public:
  /// `fd` listens if `listens`: the first receive accepts the one connection.
  tcp_stream(unique_fd fd, bool listens, const end_options& options, std::size_t batch)
      : fd_(std::move(fd)),
        listens_(listens),
        busy_(options.busy),
        payload_(options.payload),
        batch_({}, options.payload, 0, batch),
        memory_(options.receives && options.sends ? options.payload * 2 : 65536 + max_payload) {}

  result<std::size_t> send(const pace& stamps, std::size_t count) override {
    const auto messages = batch_.write(stamps, std::min(count, batch_.count()));
    auto left = batch_.memory().first(messages.size() * payload_);
    while (!left.empty()) {
      const auto sent = ::send(fd_.get(), left.data(), left.size(), MSG_NOSIGNAL);
      if (sent < 0 && !is_wait(errno)) return system_failure(errno, "send over TCP");
      if (sent > 0) left = left.subspan(static_cast<std::size_t>(sent));
    }
    return messages.size();
  }
  [[nodiscard]] std::size_t most() const override { return batch_.count(); }

  result<std::size_t> receive(tally& tally) override {
    if (listens_) return accept();
    const auto got =
        ::recv(fd_.get(), memory_.data() + held_, memory_.size() - held_, busy_ ? MSG_DONTWAIT : 0);
    if (got < 0) {
      if (is_wait(errno)) return 0;
      return system_failure(errno, "receive over TCP");
    }
    // The sender is done, and a stop request will follow.
    if (got == 0) std::this_thread::sleep_for(timeout);
    held_ += static_cast<std::size_t>(got);
    if (held_ < payload_) return 0;
    tally.begin();
    auto whole = byte_span(memory_).first(held_);
    std::size_t count = 0;
    for (; whole.size() >= payload_; whole = whole.subspan(payload_), ++count) {
      tally.take(whole.first(payload_));
    }
    std::memmove(memory_.data(), whole.data(), whole.size());
    held_ = whole.size();
    return count;
  }
  result<std::uint64_t> dropped() override { return 0; }

 private:
  result<std::size_t> accept() {
    unique_fd connection(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection) {
      if (is_wait(errno)) return 0;
      return system_failure(errno, "accept a TCP connection");
    }
    const timeval limit{.tv_sec = 0, .tv_usec = suseconds_t{timeout_ms} * 1000};
    ::setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    fd_ = std::move(connection);
    listens_ = false;
    return 0;
  }

  static constexpr int yes = 1;

  unique_fd fd_;
  bool listens_;
  bool busy_;
  std::size_t payload_;
  message_batch batch_;
  std::vector<std::byte> memory_;
  std::size_t held_ = 0;
};

result<end> open(const end_options& options, std::size_t batch) {
  const bool listens = options.peer_port == 0;
  auto fd = bound_socket(SOCK_STREAM, options.address, 0, options.receives ? options.buffer : 0);
  if (!fd) return std::unexpected(fd.error());
  if (listens) {
    if (::listen(fd->get(), 1) != 0) return system_failure(errno, "listen for TCP");
  } else {
    const auto peer = inet_address(options.peer_address, options.peer_port);
    if (!peer) return std::unexpected(peer.error());
    if (::connect(fd->get(), reinterpret_cast<const sockaddr*>(&*peer), sizeof *peer) != 0) {
      return system_failure(
          errno, "connect to " + options.peer_address + ":" + std::to_string(options.peer_port));
    }
    // In a round trip a message must not wait for others; one way, it may.
    const auto done = set_option(fd->get(), IPPROTO_TCP, TCP_NODELAY, options.receives ? 1 : 0,
                                 "set TCP_NODELAY");
    if (!done) return std::unexpected(done.error());
  }
  const auto port = port_of(fd->get());
  const auto both = std::make_shared<tcp_stream>(std::move(*fd), listens, options, batch);
  return end{.out = both, .in = both, .port = port};
}

}  // namespace

result<end> open_tcp(const end_options& options) { return open(options, 1); }
result<end> open_tcp_batch(const end_options& options) { return open(options, batch_size); }

}  // namespace strata::measure
