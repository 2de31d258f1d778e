// The paths over UDP.
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "measure/ends/end.hpp"
#include "measure/ends/inet_socket.hpp"

namespace strata::measure {

namespace {

constexpr std::size_t largest_datagram = 65'507;

bool has_to_wait(int code) { return code == EAGAIN || code == EINTR || code == ENOBUFS; }

struct opened {
  unique_fd fd;
  sockaddr_in peer;
  std::uint16_t port;
};

result<opened> open(const end_options& options) {
  auto fd = bound_socket(SOCK_DGRAM, options.address, 0, options.receives ? options.buffer : 0);
  if (!fd) return std::unexpected(fd.error());
  auto peer = sockaddr_in{};
  if (options.peer_port != 0) {
    const auto found = inet_address(options.peer_address, options.peer_port);
    if (!found) return std::unexpected(found.error());
    peer = *found;
  }
  const auto port = port_of(fd->get());
  return opened{.fd = std::move(*fd), .peer = peer, .port = port};
}

// One datagram per call. Answers go to the sender of the last one.
class datagram_socket final : public sender, public receiver {
 public:
  datagram_socket(unique_fd fd, const sockaddr_in& peer, const end_options& options)
      : fd_(std::move(fd)),
        peer_(peer),
        batch_({}, options.payload, 0, 1),
        flags_(options.busy ? MSG_DONTWAIT : 0) {}

  result<std::size_t> send(const pace& stamps, std::size_t) override {
    const auto message = batch_.write(stamps, 1).front();
    const auto sent = ::sendto(fd_.get(), message.data(), message.size(), 0,
                               reinterpret_cast<const sockaddr*>(&peer_), sizeof peer_);
    if (sent >= 0) return 1;
    if (has_to_wait(errno)) return 0;
    return system_failure(errno, "send a datagram");
  }
  result<std::size_t> receive(tally& tally) override {
    socklen_t size = sizeof peer_;
    const auto got = ::recvfrom(fd_.get(), memory_.data(), memory_.size(), flags_,
                                reinterpret_cast<sockaddr*>(&peer_), &size);
    if (got < 0) {
      if (has_to_wait(errno)) return 0;
      return system_failure(errno, "receive a datagram");
    }
    tally.begin();
    tally.take(byte_span(memory_).first(static_cast<std::size_t>(got)));
    return 1;
  }
  result<std::uint64_t> dropped() override { return socket_drops(fd_.get()); }

 private:
  unique_fd fd_;
  sockaddr_in peer_;
  message_batch batch_;
  int flags_;
  std::array<std::byte, 9216> memory_;
};

// sendmmsg and recvmmsg.
class batch_socket final : public sender, public receiver {
 public:
  batch_socket(unique_fd fd, const sockaddr_in& peer, const end_options& options)
      : fd_(std::move(fd)),
        peer_(peer),
        batch_({}, options.payload, 0, batch_size),
        memory_(batch_size * options.mtu) {
    for (std::size_t i = 0; i < batch_size; ++i) {
      in_vectors_[i] = {memory_.data() + i * options.mtu, options.mtu};
      in_[i].msg_hdr.msg_iov = &in_vectors_[i];
      in_[i].msg_hdr.msg_iovlen = 1;
      auto& out = out_[i].msg_hdr;
      out.msg_iov = &out_vectors_[i];
      out.msg_iovlen = 1;
      out.msg_name = &peer_;
      out.msg_namelen = sizeof peer_;
    }
  }

  result<std::size_t> send(const pace& stamps, std::size_t count) override {
    const auto messages = batch_.write(stamps, std::min(count, batch_size));
    for (std::size_t i = 0; i < messages.size(); ++i) {
      out_vectors_[i] = {const_cast<std::byte*>(messages[i].data()), messages[i].size()};
    }
    const int sent = ::sendmmsg(fd_.get(), out_.data(), static_cast<unsigned>(messages.size()), 0);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (has_to_wait(errno)) return 0;
    return system_failure(errno, "send datagrams");
  }
  [[nodiscard]] std::size_t most() const override { return batch_size; }
  result<std::size_t> receive(tally& tally) override {
    const int got = ::recvmmsg(fd_.get(), in_.data(), batch_size, MSG_WAITFORONE, nullptr);
    if (got < 0) {
      if (has_to_wait(errno)) return 0;
      return system_failure(errno, "receive datagrams");
    }
    tally.begin();
    for (const auto& each : std::span(in_).first(static_cast<std::size_t>(got))) {
      tally.take({static_cast<const std::byte*>(each.msg_hdr.msg_iov->iov_base), each.msg_len});
    }
    return static_cast<std::size_t>(got);
  }
  result<std::uint64_t> dropped() override { return socket_drops(fd_.get()); }

 private:
  unique_fd fd_;
  sockaddr_in peer_;
  message_batch batch_;
  std::vector<std::byte> memory_;
  std::array<mmsghdr, batch_size> out_{};
  std::array<mmsghdr, batch_size> in_{};
  std::array<iovec, batch_size> out_vectors_{};
  std::array<iovec, batch_size> in_vectors_{};
};

// Many messages in one datagram, which the kernel splits (UDP_SEGMENT), and which the receiver's
// kernel joins again, or never splits (UDP_GRO).
class segmenting_socket final : public sender, public receiver {
 public:
  segmenting_socket(unique_fd fd, const sockaddr_in& peer, const end_options& options)
      : fd_(std::move(fd)),
        peer_(peer),
        payload_(options.payload),
        batch_({}, options.payload, 0, std::min(batch_size, largest_datagram / options.payload)),
        memory_(largest_datagram) {}

  result<std::size_t> send(const pace& stamps, std::size_t count) override {
    const auto messages = batch_.write(stamps, std::min(count, batch_.count()));
    const auto sent = ::sendto(fd_.get(), batch_.memory().data(), messages.size() * payload_, 0,
                               reinterpret_cast<const sockaddr*>(&peer_), sizeof peer_);
    if (sent >= 0) return messages.size();
    if (has_to_wait(errno)) return 0;
    return system_failure(errno, "send segmented datagrams");
  }
  [[nodiscard]] std::size_t most() const override { return batch_.count(); }
  result<std::size_t> receive(tally& tally) override {
    iovec vector{memory_.data(), memory_.size()};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
    msghdr header{};
    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const auto got = ::recvmsg(fd_.get(), &header, 0);
    if (got < 0) {
      if (has_to_wait(errno)) return 0;
      return system_failure(errno, "receive joined datagrams");
    }
    auto rest = byte_span(memory_).first(static_cast<std::size_t>(got));
    auto segment = rest.size();
    for (auto* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
      if (each->cmsg_level != SOL_UDP || each->cmsg_type != UDP_GRO) continue;
      int size = 0;
      std::memcpy(&size, CMSG_DATA(each), sizeof size);
      if (size > 0) segment = static_cast<std::size_t>(size);
    }
    tally.begin();
    std::size_t count = 0;
    for (; !rest.empty(); ++count) {
      const auto size = std::min(segment, rest.size());
      tally.take(rest.first(size));
      rest = rest.subspan(size);
    }
    return std::max<std::size_t>(count, 1);
  }
  // The kernel counts drops in joined datagrams.
  result<std::uint64_t> dropped() override {
    const auto counted = socket_drops(fd_.get());
    if (!counted) return counted;
    return *counted * batch_.count();
  }

 private:
  unique_fd fd_;
  sockaddr_in peer_;
  std::size_t payload_;
  message_batch batch_;
  std::vector<std::byte> memory_;
};

template <class Socket>
result<end> made_of(const end_options& options) {
  auto opened = open(options);
  if (!opened) return std::unexpected(opened.error());
  const auto both = std::make_shared<Socket>(std::move(opened->fd), opened->peer, options);
  return end{.out = both, .in = both, .port = opened->port};
}

}  // namespace

result<end> open_udp(const end_options& options) { return made_of<datagram_socket>(options); }
result<end> open_udp_batch(const end_options& options) { return made_of<batch_socket>(options); }

result<end> open_udp_gso(const end_options& options) {
  auto opened = open(options);
  if (!opened) return std::unexpected(opened.error());
  const int fd = opened->fd.get();
  const auto done = options.sends
                        ? set_option(fd, SOL_UDP, UDP_SEGMENT, static_cast<int>(options.payload),
                                     "enable UDP segmentation offload")
                        : set_option(fd, SOL_UDP, UDP_GRO, 1, "enable UDP receive offload");
  if (!done) return std::unexpected(done.error());
  const auto both =
      std::make_shared<segmenting_socket>(std::move(opened->fd), opened->peer, options);
  return end{.out = both, .in = both, .port = opened->port};
}

}  // namespace strata::measure
