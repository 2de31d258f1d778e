#include "strata/broker/channel.hpp"

#include <limits.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

namespace strata::broker {

namespace {

// How long a daemon may take, including a busy queue.
constexpr timeval patience{.tv_sec = 10, .tv_usec = 0};

union control_space {
  cmsghdr header;
  std::array<char, CMSG_SPACE(most_descriptors * sizeof(int))> bytes;
};

/// The header of a request's message.
struct request_head {
  kind of;
};

/// The header of a reply's message, or the whole reply when the daemon refuses.
struct reply_head {
  std::int32_t refused = -1;  ///< an errc; negative on success
  std::array<char, 1024> text{};
};

error refusal_of(const reply_head& head) {
  constexpr int last = static_cast<int>(errc::system);
  return {.code = static_cast<errc>(std::clamp<int>(head.refused, 0, last)),
          .operation = "get a socket from the daemon",
          .reason = "the daemon answered: " +
                    std::string(head.text.data(), ::strnlen(head.text.data(), head.text.size())),
          .remedy = {},
          .offset = {}};
}

result<unique_fd> connect_to(const std::string& path) {
  const auto what = "request a socket from the daemon at '" + path + "'";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return failure(errc::invalid_argument, what, "the path is longer than 107 bytes");
  }
  std::ranges::copy(path, address.sun_path);
  unique_fd made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!made ||
      ::connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return system_failure(
        errno, what,
        "check that it runs with --socket-policy; STRATA_BROKER_SOCKET sets another path");
  }
  ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return made;
}

void take_descriptors(msghdr& header, std::array<unique_fd, most_descriptors>& array) {
  for (auto* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    const auto count = std::min(array.size(), (each->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::array<int, most_descriptors> numbers{};
    std::memcpy(numbers.data(), CMSG_DATA(each), count * sizeof(int));
    for (std::size_t i = 0; i < count; ++i) array[i].reset(numbers[i]);
  }
}

/// Returns a header and the message behind it, as one packet.
std::array<iovec, 2> packet_of(void* head, std::size_t head_size, const void* message,
                               std::size_t size) {
  return {iovec{head, head_size}, iovec{const_cast<void*>(message), size}};
}

result<void> send_reply(int connection, reply_head head, byte_span message,
                        std::span<const int> descriptors) {
  auto parts = packet_of(&head, sizeof head, message.data(), message.size());
  control_space control{};
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();
  if (!descriptors.empty()) {
    header.msg_control = &control;
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    auto* const rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  if (::sendmsg(connection, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    return system_failure(errno, "pass a socket to the client");
  }
  return {};
}

}  // namespace

std::string default_path() {
  const char* const given = std::getenv("STRATA_BROKER_SOCKET");
  return given != nullptr && *given != '\0' ? given : "/run/strata/broker.sock";
}

name name_in_message(std::string_view interface_name) {
  name made{};
  std::copy_n(interface_name.begin(), std::min(interface_name.size(), made.size() - 1),
              made.begin());
  return made;
}

bool is_name(const name& name) {
  const std::string_view text(name.data(), ::strnlen(name.data(), name.size()));
  return !text.empty() && text.size() < name.size() &&
         std::ranges::all_of(
             text, [](char letter) { return letter > ' ' && letter < '\x7f' && letter != '/'; });
}

result<reply> ask(const std::string& path, kind kind, byte_span request, mutable_byte_span answer) {
  auto connected = connect_to(path);
  if (!connected) return std::unexpected(connected.error());
  const int connection = connected->get();
  request_head asked{kind};
  auto sent = packet_of(&asked, sizeof asked, request.data(), request.size());
  msghdr header{};
  header.msg_iov = sent.data();
  header.msg_iovlen = sent.size();
  if (::sendmsg(connection, &header, MSG_NOSIGNAL) < 0) {
    return system_failure(errno, "request a socket from the daemon at '" + path + "'");
  }
  reply_head head;
  auto received = packet_of(&head, sizeof head, answer.data(), answer.size());
  control_space control{};
  header = {};
  header.msg_iov = received.data();
  header.msg_iovlen = received.size();
  header.msg_control = &control;
  header.msg_controllen = sizeof control;
  ssize_t size = 0;
  do {
    size = ::recvmsg(connection, &header, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  const int code = size < 0 ? errno : 0;
  reply got;
  if (code == 0) take_descriptors(header, got.descriptors);
  const std::string what = "get a socket from the daemon";
  if (code != 0) return system_failure(code == EAGAIN ? ETIMEDOUT : code, what);
  const auto count = static_cast<std::size_t>(size);
  if (count == sizeof head && head.refused >= 0) return std::unexpected(refusal_of(head));
  if (count != sizeof head + answer.size() || head.refused >= 0) {
    return failure(errc::malformed, what, "its reply has " + std::to_string(size) + " bytes",
                   "use the same version of daemon and library");
  }
  got.connection = std::move(*connected);
  return got;
}

result<peer> peer_of(int connection) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return system_failure(errno, "identify the client that requests a socket");
  }
  peer found{.user = who.uid, .groups = {}, .process = who.pid};
  found.groups.resize(NGROUPS_MAX);
  size = static_cast<socklen_t>(found.groups.size() * sizeof(gid_t));
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERGROUPS, found.groups.data(), &size) != 0) {
    size = 0;
  }
  found.groups.resize(size / sizeof(gid_t));
  found.groups.push_back(who.gid);
  return found;
}

result<request> read_request(int connection) {
  std::array<std::byte, sizeof(request_head) + most_bytes> bytes;
  const auto size = ::recv(connection, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_TRUNC);
  if (size < 0) return system_failure(errno, "read a request for a socket");
  if (size == 0) return failure(errc::connection_closed, "read a request for a socket");
  const auto count = static_cast<std::size_t>(size);
  if (count < sizeof(request_head) || count > bytes.size()) {
    return failure(errc::malformed, "read a request for a socket",
                   "it has " + std::to_string(size) + " bytes");
  }
  request_head head{kind::xdp};
  std::memcpy(&head, bytes.data(), sizeof head);
  const auto message = std::span(bytes).first(count).subspan(sizeof head);
  return request{.of = head.of, .message = {message.begin(), message.end()}};
}

result<void> hand_over(int connection, byte_span message, std::span<const int> descriptors) {
  return send_reply(connection, {}, message, descriptors);
}

void refuse(int connection, const error& why) {
  reply_head head{.refused = static_cast<std::int32_t>(why.code), .text = {}};
  const auto text = describe(why);
  std::copy_n(text.begin(), std::min(text.size(), head.text.size() - 1), head.text.begin());
  (void)send_reply(connection, head, {}, {});
}

}  // namespace strata::broker
