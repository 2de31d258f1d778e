#include "process/keeper_link.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "process/pipe.hpp"

namespace strata::process {

namespace {

// The name of a socket in an open folder, however long the folder's path is.
sockaddr_un address_in(int folder, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto path = "/proc/self/fd/" + std::to_string(folder) + "/" + name;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

// The keeper itself calls listen(2), so that the kernel attests its user to those that connect.
result<unique_fd> bind_in(int folder, const std::string& name) {
  const auto operation = "make the socket '" + name + "' for a program's keeper";
  ::unlinkat(folder, name.c_str(), 0);
  unique_fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_failure(errno, operation);
  const auto address = address_in(folder, name);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const auto* const remedy = errno == EADDRINUSE
                                   ? "remove what has that name in the folder 'programs' of the "
                                     "state folder"
                                   : "";
    return system_failure(errno, operation, remedy);
  }
  return socket;
}

std::vector<std::string> words_of(kept_program& program) {
  const char* const path = ::getenv("PATH");
  std::vector<std::string> words{"strata-keeper",
                                 std::string(keeper_word),
                                 path == nullptr ? "" : path,
                                 std::to_string(program.stop_signal),
                                 std::to_string(program.grace_ms),
                                 program.name,
                                 program.note};
  std::ranges::move(program.program.words, std::back_inserter(words));
  return words;
}

}  // namespace

result<started_keeper> start_keeper(kept_program program) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    return system_failure(errno, "connect to a program's keeper");
  }
  unique_fd own(ends[0]);
  const unique_fd other(ends[1]);
  auto pipe = make_pipe();
  if (!pipe) return std::unexpected(pipe.error());
  ::fcntl(pipe->read.get(), F_SETFL, O_NONBLOCK);
  unique_fd listener;
  if (program.folder >= 0) {
    auto bound = bind_in(program.folder, program.name);
    if (!bound) return std::unexpected(bound.error());
    listener = std::move(*bound);
  }
  const unique_fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto order = std::move(program.program);
  program.program.words = std::move(order.words);
  order.words = words_of(program);
  order.file = "/proc/self/exe";
  order.input = nothing.get();
  order.output = order.error = pipe->write.get();
  // In the order of `keeper_descriptor`.
  order.handed_over = {program.socket, other.get(),    pipe->read.get(),
                       program.folder, listener.get(), program.notifications};
  order.is_leader = true;
  auto started = start(std::move(order));
  if (started) return started_keeper{std::move(*started), std::move(own)};
  if (program.folder >= 0) remove_keeper_file(program.folder, program.name);
  return std::unexpected(started.error());
}

result<unique_fd> connect_to_keeper(int folder, const std::string& name) {
  const auto operation = "connect to the keeper '" + name + "'";
  unique_fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_failure(errno, operation);
  const auto address = address_in(folder, name);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int code = errno;
    // Nobody listens there, or it is no socket of this kind.
    if (code == ECONNREFUSED || code == EPROTOTYPE) {
      remove_keeper_file(folder, name);
      return failure(errc::not_found, operation, "it has ended");
    }
    return system_failure(code, operation);
  }
  const auto peer = peer_of(socket.get());
  if (peer && peer->user == ::geteuid()) return socket;
  return failure(errc::permission_denied, operation, "another user listens there");
}

bool send_order(int connection, keeper_order order) {
  const char letter = static_cast<char>(order);
  return send_packet(connection, {&letter, 1});
}

void remove_keeper_file(int folder, const std::string& name) {
  ::unlinkat(folder, name.c_str(), 0);
}

}  // namespace strata::process
