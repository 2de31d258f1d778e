#include "strata/xdp/broker.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "xdp/broker_message.hpp"

namespace strata::xdp {

namespace {

constexpr std::size_t passed = 2;  // descriptors: the socket, the memory
// What one client may have the daemon lock.
constexpr std::size_t most_memory = std::size_t{64} << 20U;
constexpr std::uint32_t most_entries = 65536;
// How long a daemon may take, a busy queue included.
constexpr timeval patience{.tv_sec = 10, .tv_usec = 0};

union control_space {
  cmsghdr header;
  std::array<char, CMSG_SPACE(passed * sizeof(int))> bytes;
};

result<unique_fd> connect_to(const std::string& path) {
  const auto what = "ask the daemon at '" + path + "' for an AF_XDP socket";
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
        errno, what, "is it running, with --xdp-policy? STRATA_XDP_SOCKET names another place");
  }
  ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return made;
}

/// The reply, and the descriptors that came with it.
struct reply {
  reply_message message;
  std::array<unique_fd, passed> descriptors;
};

result<reply> receive_reply(int connection) {
  reply got;
  iovec body{&got.message, sizeof got.message};
  control_space control{};
  msghdr header{};
  header.msg_iov = &body;
  header.msg_iovlen = 1;
  header.msg_control = &control;
  header.msg_controllen = sizeof control;
  ssize_t size = 0;
  do {
    size = ::recvmsg(connection, &header, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  const int code = size < 0 ? errno : 0;
  for (const auto* each = CMSG_FIRSTHDR(&header); each != nullptr;
       each = CMSG_NXTHDR(&header, const_cast<cmsghdr*>(each))) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    const auto count = std::min(passed, (each->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::array<int, passed> numbers{};
    std::memcpy(numbers.data(), CMSG_DATA(each), count * sizeof(int));
    for (std::size_t i = 0; i < count; ++i) got.descriptors[i].reset(numbers[i]);
  }
  const std::string what = "get an AF_XDP socket from the daemon";
  if (code != 0) return system_failure(code == EAGAIN ? ETIMEDOUT : code, what);
  if (size != sizeof got.message) {
    return failure(errc::malformed, what, "its reply has " + std::to_string(size) + " bytes",
                   "are daemon and library of one version?");
  }
  return got;
}

error error_of(const reply_message& message) {
  std::string text(message.text.data(), ::strnlen(message.text.data(), message.text.size()));
  return {.code = static_cast<errc>(std::clamp(message.code, 0, static_cast<int>(errc::system))),
          .operation = "get an AF_XDP socket from the daemon",
          .reason = "it says: " + text,
          .remedy = {},
          .offset = {}};
}

result<void> send_reply(int connection, const reply_message& message,
                        std::span<const int> descriptors) {
  auto copy = message;
  iovec body{&copy, sizeof copy};
  control_space control{};
  msghdr header{};
  header.msg_iov = &body;
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
  if (::sendmsg(connection, &header, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof copy) {
    return system_failure(errno, "hand an AF_XDP socket over");
  }
  return {};
}

/// Memory whose size nobody can change: whoever has it must not be able to take pages away.
result<unique_fd> make_memory(std::size_t size) {
  unique_fd made(::memfd_create("strata-umem", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!made || ::ftruncate(made.get(), static_cast<off_t>(size)) != 0 ||
      ::fcntl(made.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return system_failure(errno, "make shared memory of " + std::to_string(size) + " bytes");
  }
  return made;
}

}  // namespace

std::string default_broker_path() {
  const char* const given = std::getenv("STRATA_XDP_SOCKET");
  return given != nullptr && *given != '\0' ? given : "/run/strata/xdp.sock";
}

result<brokered_socket> open_through_daemon(const broker_request& what, const std::string& path) {
  if (what.memory.huge_pages) {
    return failure(errc::not_supported, "get an AF_XDP socket from the daemon",
                   "it gives no huge pages", "ask without");
  }
  auto connection = connect_to(path);
  if (!connection) return std::unexpected(connection.error());
  const auto message = to_message(what);
  if (::send(connection->get(), &message, sizeof message, MSG_NOSIGNAL) != sizeof message) {
    return system_failure(errno, "ask the daemon at '" + path + "' for an AF_XDP socket");
  }
  auto got = receive_reply(connection->get());
  if (!got) return std::unexpected(got.error());
  if (got->message.code >= 0) return std::unexpected(error_of(got->message));
  auto memory = umem::create_in(got->descriptors[1].get(), what.memory);
  if (!memory) return std::unexpected(memory.error());
  auto made = socket::adopt(std::move(*memory), std::move(got->descriptors[0]),
                            {.interface_index = got->message.interface_index,
                             .queue = what.queue,
                             .is_zerocopy = got->message.is_zerocopy != 0},
                            what.socket);
  if (!made && made.error().sys_errno == EBUSY) {
    return failure(errc::not_supported, "use an AF_XDP socket that the daemon made",
                   "this kernel does not let the rings of a bound socket be mapped",
                   "that needs Linux 6.4; an unbound socket would give every queue, so the daemon "
                   "does not pass one on");
  }
  if (!made) return std::unexpected(made.error());
  return brokered_socket{.within = std::move(*made),
                         .is_native = got->message.is_native != 0,
                         .connection = std::move(*connection)};
}

result<broker_peer> peer_of(int connection) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return system_failure(errno, "ask who wants an AF_XDP socket");
  }
  broker_peer peer{.user = who.uid, .groups = {}, .process = who.pid};
  peer.groups.resize(NGROUPS_MAX);
  size = static_cast<socklen_t>(peer.groups.size() * sizeof(gid_t));
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERGROUPS, peer.groups.data(), &size) != 0) size = 0;
  peer.groups.resize(size / sizeof(gid_t));
  peer.groups.push_back(who.gid);
  return peer;
}

result<broker_request> read_request(int connection) {
  request_message message;
  const auto size = ::recv(connection, &message, sizeof message, MSG_DONTWAIT | MSG_TRUNC);
  if (size < 0) return system_failure(errno, "read a request for an AF_XDP socket");
  if (size == 0) return failure(errc::connection_closed, "read a request for an AF_XDP socket");
  if (size != sizeof message) {
    return failure(
        errc::malformed, "understand a request for an AF_XDP socket",
        "it has " + std::to_string(size) + " bytes, not " + std::to_string(sizeof message));
  }
  return from_message(message);
}

result<grant> grant_request(int connection, const broker_request& what) {
  const auto& rings = what.socket;
  if (const auto largest = std::max(
          {rings.receive_size, rings.transmit_size, rings.fill_size, rings.completion_size});
      largest > most_entries) {
    return failure(errc::limit_exceeded, "make a ring of " + std::to_string(largest) + " entries",
                   "the daemon gives 65536 at most", "ask for smaller rings");
  }
  const auto size = umem::size_of(what.memory);
  if (size > most_memory) {
    return failure(errc::limit_exceeded, "make a UMEM of " + std::to_string(size) + " bytes",
                   "the daemon gives 64 MiB at most", "ask for fewer frames");
  }
  const auto memory = make_memory(size);
  if (!memory) return std::unexpected(memory.error());
  auto shared = umem::create_in(memory->get(), what.memory);
  if (!shared) return std::unexpected(shared.error());
  auto made = socket::create(std::move(*shared), what.interface_name, what.queue, what.socket);
  if (!made) return std::unexpected(made.error());
  grant given{.made = std::move(*made), .brings = {}};
  if (what.socket.receive_size != 0) {
    const auto attached = program::attach(what.interface_name, what.attach);
    if (!attached) return std::unexpected(attached.error());
    auto added = (*attached)->add(what.which, given.made);
    if (!added) return std::unexpected(added.error());
    given.brings = std::move(*added);
  }
  const reply_message reply{
      .code = -1,
      .interface_index = given.made.interface_index(),
      .is_zerocopy = static_cast<std::uint8_t>(given.made.is_zerocopy()),
      .is_native = static_cast<std::uint8_t>(given.brings && given.brings->of()->is_native())};
  const std::array<int, passed> descriptors = {given.made.fd(), memory->get()};
  if (auto sent = send_reply(connection, reply, descriptors); !sent) {
    return std::unexpected(sent.error());
  }
  return given;
}

void refuse_request(int connection, const error& why) {
  reply_message reply{.code = static_cast<std::int32_t>(why.code), .sys_errno = why.sys_errno};
  const auto text = describe(why);
  std::copy_n(text.begin(), std::min(text.size(), reply.text.size() - 1), reply.text.begin());
  (void)send_reply(connection, reply, {});
}

}  // namespace strata::xdp
