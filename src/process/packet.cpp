#include "process/packet.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace strata::process {

namespace {

union rights_space {
  cmsghdr header;
  std::array<char, CMSG_SPACE(most_packet_descriptors * sizeof(int))> bytes;
};

void take_rights(msghdr& header, std::vector<unique_fd>& descriptors) {
  for (auto* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    std::array<int, most_packet_descriptors> numbers{};
    const auto size = std::min(sizeof numbers, each->cmsg_len - CMSG_LEN(0));
    std::memcpy(numbers.data(), CMSG_DATA(each), size);
    for (const int number : std::span(numbers).first(size / sizeof(int))) {
      descriptors.emplace_back(number);
    }
  }
}

}  // namespace

bool send_packet(int connection, std::string_view text, std::span<const int> descriptors) {
  iovec piece{.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()};
  rights_space control{};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = &control;
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    auto* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t size = 0;
  do {
    size = ::sendmsg(connection, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (size < 0 && errno == EINTR);
  return size >= 0;
}

result<std::optional<packet>> receive_packet(int connection) {
  constexpr auto operation = "receive a message of another process";
  packet received;
  received.text.resize(most_packet_bytes);
  iovec piece{.iov_base = received.text.data(), .iov_len = received.text.size()};
  rights_space control{};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = &control;
  header.msg_controllen = sizeof control;
  ssize_t size = 0;
  // An end that was closed before it had read everything is reported first, by ECONNRESET; what it
  // had sent comes after that.
  bool is_reset = false;
  do {
    size = ::recvmsg(connection, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (size < 0 && (errno == EINTR || (errno == ECONNRESET && !std::exchange(is_reset, true))));
  if (size < 0 && errno == EAGAIN) return std::nullopt;
  if (size <= 0) {
    return failure(errc::connection_closed, operation, "the other process has ended");
  }
  take_rights(header, received.descriptors);
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return failure(errc::malformed, operation, "it is too long");
  }
  received.text.resize(static_cast<std::size_t>(size));
  return received;
}

std::optional<packet_peer> peer_of(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return packet_peer{.process = peer.pid, .user = peer.uid};
}

}  // namespace strata::process
