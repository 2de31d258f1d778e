#include "runtime/program/notify_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "text/readable.hpp"

namespace strata::runtime::program {

namespace {

// systemd takes as much.
constexpr std::size_t longest_message = 4096;

// The user that sent a message, as the kernel attests it.
std::optional<uid_t> sender_of(msghdr& message) {
  for (auto* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
    ucred sender{};
    std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
    return sender.uid;
  }
  return std::nullopt;
}

}  // namespace

notification read_notification(std::string_view message) {
  notification read;
  while (!message.empty()) {
    const auto end = message.find('\n');
    const auto line = message.substr(0, end);
    message.remove_prefix(end == std::string_view::npos ? message.size() : end + 1);
    if (line == "READY=1") read.is_ready = true;
    if (line == "WATCHDOG=1") read.is_alive = true;
    if (line == "STOPPING=1") read.is_stopping = true;
    if (line.starts_with("STATUS=")) {
      read.status = text::printable(line.substr(std::strlen("STATUS=")));
      read.has_status = true;
    }
  }
  return read;
}

result<notify_socket> notify_socket::open() {
  unique_fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_failure(errno, "open a socket for a program's reports");
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const int on = 1;
  // The kernel chooses the name.
  const bool is_open =
      ::setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 &&
      ::bind(socket.get(), reinterpret_cast<sockaddr*>(&name), sizeof(sa_family_t)) == 0;
  if (!is_open) return system_failure(errno, "open a socket for a program's reports");
  return adopt(std::move(socket));
}

result<notify_socket> notify_socket::adopt(unique_fd socket) {
  sockaddr_un name{};
  socklen_t size = sizeof name;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) {
    return system_failure(errno, "open a socket for a program's reports");
  }
  const auto length = size - offsetof(sockaddr_un, sun_path);
  // The name begins with a zero byte, for which sd_notify(3) writes @.
  std::string text(name.sun_path, length);
  if (!text.empty()) text[0] = '@';
  return notify_socket(std::move(socket), std::move(text));
}

std::optional<notification> take_notification(int socket, uid_t user) {
  for (;;) {
    std::array<char, longest_message> text{};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
    iovec piece{.iov_base = text.data(), .iov_len = text.size()};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    // Descriptors that come with it, for which there is no room, are closed by the kernel.
    const auto size = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return std::nullopt;
    const auto sender = sender_of(message);
    const bool is_cut = (message.msg_flags & MSG_TRUNC) != 0;
    if (is_cut || !sender || (*sender != user && *sender != 0)) continue;
    return read_notification({text.data(), static_cast<std::size_t>(size)});
  }
}

}  // namespace strata::runtime::program
