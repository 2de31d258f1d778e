#include "loop/datagram_buffers.hpp"

#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>

#include "loop/os_loop.hpp"

namespace strata::loop {

namespace {

bool is_of_kernel(const loop& loop) { return dynamic_cast<const os_loop*>(&loop) != nullptr; }

void set_size(int fd, int forced, int usual, std::uint64_t size) {
  if (size == 0) return;
  const auto bytes = static_cast<int>(std::min<std::uint64_t>(size, INT_MAX / 2));
  if (::setsockopt(fd, SOL_SOCKET, forced, &bytes, sizeof bytes) == 0) return;
  (void)::setsockopt(fd, SOL_SOCKET, usual, &bytes, sizeof bytes);
}

std::uint64_t size_of(int fd, int index) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  if (::getsockopt(fd, SOL_SOCKET, index, &bytes, &size) != 0) return 0;
  return static_cast<std::uint64_t>(bytes) / 2;
}

template <class Info>
void put(datagram_control& room, int level, int type, const Info& info, msghdr& header) {
  header.msg_control = room.bytes.data();
  header.msg_controllen = CMSG_SPACE(sizeof info);
  auto* const message = CMSG_FIRSTHDR(&header);
  message->cmsg_level = level;
  message->cmsg_type = type;
  message->cmsg_len = CMSG_LEN(sizeof info);
  std::memcpy(CMSG_DATA(message), &info, sizeof info);
}

in6_addr mapped(const in_addr& ip4) {
  in6_addr address{};
  address.s6_addr[10] = address.s6_addr[11] = 0xff;
  std::memcpy(&address.s6_addr[12], &ip4, sizeof ip4);
  return address;
}

}  // namespace

void set_buffers(const loop& loop, const descriptor& socket, const datagram_buffers& buffers) {
  if (!is_of_kernel(loop)) return;
  set_size(socket.fd(), SO_RCVBUFFORCE, SO_RCVBUF, buffers.receive);
  set_size(socket.fd(), SO_SNDBUFFORCE, SO_SNDBUF, buffers.send);
}

datagram_buffers buffers_of(const loop& loop, const descriptor& socket) {
  if (!is_of_kernel(loop)) return {};
  return {size_of(socket.fd(), SO_RCVBUF), size_of(socket.fd(), SO_SNDBUF)};
}

bool has_whole_datagrams(const loop& loop) { return is_of_kernel(loop); }

std::optional<whole_datagram> take_datagram(const descriptor& socket) {
  constexpr std::size_t longest = 65536;  // an IP packet's length has 16 bits
  thread_local const auto memory = std::make_unique_for_overwrite<std::byte[]>(longest);
  sockaddr_storage from{};
  iovec vector{memory.get(), longest};
  datagram_control control;
  msghdr header{};
  ssize_t taken = 0;
  do {
    header = {.msg_name = &from,
              .msg_namelen = sizeof from,
              .msg_iov = &vector,
              .msg_iovlen = 1,
              .msg_control = control.bytes.data(),
              .msg_controllen = control.bytes.size()};
    taken = ::recvmsg(socket.fd(), &header, MSG_DONTWAIT);
  } while (taken < 0 && errno == EINTR);
  if (taken < 0 && errno == EAGAIN) return std::nullopt;
  if (taken < 0) return whole_datagram{.result = -errno, .data = {}, .from = {}};
  socket_address sender(reinterpret_cast<const sockaddr*>(&from), header.msg_namelen);
  note_source(header, sender);
  return whole_datagram{.result = static_cast<int>(taken),
                        .data = buffer::copy_of({memory.get(), static_cast<std::size_t>(taken)}),
                        .from = std::move(sender)};
}

std::uint32_t kernel_drops(const loop& loop, const descriptor& socket) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> figures{};
  socklen_t size = sizeof figures;
  if (!is_of_kernel(loop) ||
      ::getsockopt(socket.fd(), SOL_SOCKET, SO_MEMINFO, figures.data(), &size) != 0) {
    return 0;
  }
  return figures[SK_MEMINFO_DROPS];
}

void ask_for_sources(int fd, int family) {
  constexpr int yes = 1;
  // If the kernel rejects an option, it chooses the source address as usual.
  (void)::setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &yes, sizeof yes);
  if (family != AF_INET6) return;
  (void)::setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &yes, sizeof yes);
}

void note_source(const msghdr& received, socket_address& sender) {
  auto& header = const_cast<msghdr&>(received);  // the macros require it
  for (auto* message = CMSG_FIRSTHDR(&header); message != nullptr;
       message = CMSG_NXTHDR(&header, message)) {
    if (message->cmsg_level == IPPROTO_IP && message->cmsg_type == IP_PKTINFO) {
      in_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(message), sizeof info);
      // For a broadcast it is the interface's own address.
      sender.set_source(mapped(info.ipi_spec_dst));
      return;
    }
    if (message->cmsg_level == IPPROTO_IPV6 && message->cmsg_type == IPV6_PKTINFO) {
      in6_pktinfo info{};
      std::memcpy(&info, CMSG_DATA(message), sizeof info);
      const auto& address = info.ipi6_addr;
      // A multicast address cannot be a source. An IPv4 datagram has both messages.
      const bool is_usable =
          IN6_IS_ADDR_MULTICAST(&address) == 0 && IN6_IS_ADDR_V4MAPPED(&address) == 0;
      if (is_usable) sender.set_source(address);
    }
  }
}

void say_source(const socket_address& destination, datagram_control& room, msghdr& header) {
  if (!destination.has_source()) return;
  const auto& source = destination.source();
  if (IN6_IS_ADDR_V4MAPPED(&source) != 0) {
    in_pktinfo info{};
    std::memcpy(&info.ipi_spec_dst, &source.s6_addr[12], sizeof info.ipi_spec_dst);
    put(room, IPPROTO_IP, IP_PKTINFO, info, header);
  } else {
    in6_pktinfo info{.ipi6_addr = source, .ipi6_ifindex = destination.scope()};
    put(room, IPPROTO_IPV6, IPV6_PKTINFO, info, header);
  }
}

}  // namespace strata::loop
