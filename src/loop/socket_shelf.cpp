#include "loop/socket_shelf.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

namespace strata::loop {

namespace {

std::optional<int> read_option(int socket, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(socket, SOL_SOCKET, option, &value, &size) != 0) return std::nullopt;
  return value;
}

socket_address address_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* const data = reinterpret_cast<sockaddr*>(&address);
  if (::getsockname(socket, data, &size) != 0) return {};
  return {data, size};
}

bool has_peer(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return ::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
}

bool is_reachable(int socket) {
  const auto family = read_option(socket, SO_DOMAIN);
  const bool is_ip = family == AF_INET || family == AF_INET6;
  if (!is_ip && family != AF_UNIX) return false;
  if (read_option(socket, SO_TYPE) != SOCK_DGRAM) return read_option(socket, SO_ACCEPTCONN) == 1;
  return is_ip && !has_peer(socket) && address_of(socket).port() != 0;
}

// A socket for every address reports `::`.
bool is_same(const socket_address& kept, const socket_address& address) {
  if (kept == address) return true;
  return address.is_every() && kept.family() == AF_INET6 && kept.is_any() &&
         kept.port() == address.port();
}

std::optional<int> descriptor_in(const char* name) {
  int number = 0;
  const auto [end, code] = std::from_chars(name, name + std::strlen(name), number);
  if (code != std::errc{} || *end != '\0') return std::nullopt;
  return number;
}

ino_t number_of(int socket) {
  struct stat found{};
  return ::fstat(socket, &found) == 0 ? found.st_ino : 0;
}

}  // namespace

socket_shelf& socket_shelf::of_process() {
  static socket_shelf shelf;
  return shelf;
}

void socket_shelf::put(unique_fd socket, stay stay) {
  if (!socket || !is_reachable(socket.get())) return;
  ::fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  const auto address = address_of(socket.get());
  const auto type = read_option(socket.get(), SO_TYPE).value_or(0);
  const auto protocol = read_option(socket.get(), SO_PROTOCOL).value_or(0);
  const std::lock_guard guard(mutex_);
  sockets_.push_back({std::move(socket), address, type, protocol, stay});
}

socket_shelf::socket_list::const_iterator socket_shelf::find(const socket_address& address,
                                                             int type, int protocol) const {
  const auto usual = [](const kept_socket& each) {
    return each.protocol == 0 || each.protocol == IPPROTO_TCP || each.protocol == IPPROTO_UDP;
  };
  return std::ranges::find_if(sockets_, [&](const kept_socket& each) {
    return each.type == type && is_same(each.address, address) &&
           (protocol == 0 ? usual(each) : each.protocol == protocol);
  });
}

unique_fd socket_shelf::take(const socket_address& address, int type, int protocol) {
  const std::lock_guard guard(mutex_);
  const auto found = find(address, type, protocol);
  if (found == sockets_.end()) return {};
  if (found->how == stay::always) {
    return unique_fd(::fcntl(found->socket.get(), F_DUPFD_CLOEXEC, 0));
  }
  const auto place = sockets_.begin() + (found - sockets_.begin());
  auto taken = std::move(place->socket);
  sockets_.erase(place);
  return taken;
}

bool socket_shelf::has(const socket_address& address, int type, int protocol) const {
  const std::lock_guard guard(mutex_);
  return find(address, type, protocol) != sockets_.end();
}

bool socket_shelf::keeps(int socket) const {
  const auto number = number_of(socket);
  const std::lock_guard guard(mutex_);
  return std::ranges::any_of(sockets_, [&](const kept_socket& each) {
    return each.how == stay::always && number_of(each.socket.get()) == number;
  });
}

std::vector<socket_address> socket_shelf::close_untaken() {
  const std::lock_guard guard(mutex_);
  std::vector<socket_address> untaken;
  for (const auto& each : sockets_) {
    if (each.how == stay::until_taken) untaken.push_back(each.address);
  }
  std::erase_if(sockets_, [](const auto& each) { return each.how == stay::until_taken; });
  return untaken;
}

std::vector<unique_fd> copies_of_listening_sockets() {
  std::vector<unique_fd> copies;
  const auto close = [](DIR* folder) { ::closedir(folder); };
  const std::unique_ptr<DIR, decltype(close)> all(::opendir("/proc/self/fd"), close);
  if (!all) return copies;
  std::set<ino_t> seen;
  while (const auto* const each = ::readdir(all.get())) {
    const auto number = descriptor_in(each->d_name);
    if (!number || !is_reachable(*number)) continue;
    // Another thread may close the number meanwhile, and open it for something else.
    unique_fd copy(::fcntl(*number, F_DUPFD_CLOEXEC, 0));
    if (!copy || !is_reachable(copy.get())) continue;
    if (seen.insert(number_of(copy.get())).second) copies.push_back(std::move(copy));
  }
  return copies;
}

}  // namespace strata::loop
