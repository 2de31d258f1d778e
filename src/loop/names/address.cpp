#include "loop/names/address.hpp"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "strata/base/unique_fd.hpp"

namespace strata::loop {

socket_address::socket_address(const socket_address& other)
    : storage_(other.storage_), size_(other.size_), is_every_(other.is_every_), rest_(other.rest_) {
  if (is_path()) rest_.path = new sockaddr_un(*other.rest_.path);
}

socket_address& socket_address::operator=(const socket_address& other) {
  return *this = socket_address(other);
}

socket_address::socket_address(const sockaddr* address, socklen_t size) {
  if (size >= sizeof(sa_family_t) && address->sa_family == AF_UNIX) {
    sockaddr_un read{};
    const auto read_size = std::min<std::size_t>(size, sizeof read);
    std::memcpy(&read, address, read_size);
    set_path(read, read_size);
    return;
  }
  size_ = static_cast<std::uint16_t>(std::min<std::size_t>(size, sizeof storage_));
  std::memcpy(&storage_, address, size_);
  if (family() != AF_INET6 || IN6_IS_ADDR_V4MAPPED(&storage_.ip6.sin6_addr) == 0) return;
  const auto mapped = storage_.ip6;
  storage_.ip6 = {};
  storage_.ip4.sin_family = AF_INET;
  storage_.ip4.sin_port = mapped.sin6_port;
  storage_.ip4.sin_addr.s_addr = mapped.sin6_addr.s6_addr32[3];
  size_ = sizeof(sockaddr_in);
}

result<socket_address> socket_address::from_ip(const std::string& host, std::uint16_t port) {
  socket_address made;
  if (host.contains('\0')) {
    return failure(errc::invalid_argument, "use the address of a host", "it holds a NUL");
  }
  if (inet_pton(AF_INET, host.c_str(), &made.storage_.ip4.sin_addr) == 1) {
    made.storage_.ip4.sin_family = AF_INET;
    made.size_ = sizeof(sockaddr_in);
    made.set_port(port);
    return made;
  }
  const auto percent = host.find('%');
  const std::string bare = host.substr(0, percent);
  made.storage_.ip6 = {};
  if (inet_pton(AF_INET6, bare.c_str(), &made.storage_.ip6.sin6_addr) == 1) {
    made.storage_.ip6.sin6_family = AF_INET6;
    made.size_ = sizeof(sockaddr_in6);
    made.set_port(port);
    if (percent != std::string::npos) {
      const std::string scope = host.substr(percent + 1);
      made.storage_.ip6.sin6_scope_id = if_nametoindex(scope.c_str());
      if (made.storage_.ip6.sin6_scope_id == 0) {
        // if_nametoindex also fails without a free descriptor, and its errno does not reveal that.
        const unique_fd spare(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        if (!spare) return system_failure(errno, "use address '" + host + "'");
        return failure(errc::not_found, "use address '" + host + "'",
                       "there is no interface '" + scope + "'", "see 'ip link'");
      }
    }
    return made;
  }
  return failure(errc::invalid_argument, "read '" + host + "' as an IP address",
                 "it is neither IPv4 nor IPv6");
}

socket_address socket_address::every(std::uint16_t port) {
  socket_address made;
  made.storage_.ip6.sin6_family = AF_INET6;
  made.storage_.ip6.sin6_addr = in6addr_any;
  made.size_ = sizeof(sockaddr_in6);
  made.is_every_ = true;
  made.set_port(port);
  return made;
}

result<socket_address> socket_address::from_path(const std::string& path) {
  sockaddr_un named{};
  if (path.empty() || path.size() >= sizeof named.sun_path) {
    return failure(errc::invalid_argument, "use '" + path + "' as a Unix socket's path",
                   "a path has 1 to 107 bytes");
  }
  named.sun_family = AF_UNIX;
  std::memcpy(named.sun_path, path.c_str(), path.size() + 1);
  socket_address made;
  made.set_path(named, offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return made;
}

// The address is empty so far.
void socket_address::set_path(const sockaddr_un& path, std::size_t size) {
  rest_.path = new sockaddr_un(path);
  storage_.any.sa_family = AF_UNIX;
  size_ = static_cast<std::uint16_t>(size);
}

socket_address socket_address::from_mac(const mac_address& mac, int interface_index) {
  socket_address made;
  made.storage_.ll = {};
  made.storage_.ll.sll_family = AF_PACKET;
  made.storage_.ll.sll_ifindex = interface_index;
  made.storage_.ll.sll_halen = mac_address::size;
  std::ranges::copy(mac.octets(), made.storage_.ll.sll_addr);
  made.size_ = sizeof(sockaddr_ll);
  return made;
}

mac_address socket_address::mac() const {
  if (family() != AF_PACKET) return {};
  return mac_address(std::as_bytes(std::span(storage_.ll.sll_addr)).first<mac_address::size>());
}

std::uint16_t socket_address::port() const {
  if (family() == AF_INET) return ntohs(storage_.ip4.sin_port);
  if (family() == AF_INET6) return ntohs(storage_.ip6.sin6_port);
  return 0;
}

void socket_address::set_port(std::uint16_t port) {
  if (family() == AF_INET) storage_.ip4.sin_port = htons(port);
  if (family() == AF_INET6) storage_.ip6.sin6_port = htons(port);
}

std::string socket_address::path() const {
  return is_path() ? std::string(rest_.path->sun_path) : std::string();
}

std::string socket_address::ip() const {
  char host[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET) {
    inet_ntop(AF_INET, &storage_.ip4.sin_addr, host, sizeof host);
    return host;
  }
  if (family() != AF_INET6) return {};
  inet_ntop(AF_INET6, &storage_.ip6.sin6_addr, host, sizeof host);
  char name[IF_NAMESIZE] = "";
  const auto scope_id = storage_.ip6.sin6_scope_id;
  if (scope_id == 0 || if_indextoname(scope_id, name) == nullptr) return host;
  return std::string(host) + "%" + name;
}

std::string socket_address::text() const {
  if (is_every_) return "*:" + std::to_string(port());
  if (family() == AF_INET) return ip() + ":" + std::to_string(port());
  if (family() == AF_INET6) return "[" + ip() + "]:" + std::to_string(port());
  if (family() == AF_UNIX) return path();
  if (family() == AF_PACKET) return mac().text();
  return "?";
}

bool socket_address::operator==(const socket_address& other) const {
  return size_ == other.size_ && is_every_ == other.is_every_ &&
         std::memcmp(data(), other.data(), size_) == 0 &&
         IN6_ARE_ADDR_EQUAL(&source(), &other.source()) != 0;
}

std::size_t socket_address::hash() const {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(data()), size_});
}

bool socket_address::is_any() const {
  if (family() == AF_INET) return storage_.ip4.sin_addr.s_addr == htonl(INADDR_ANY);
  return family() == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&storage_.ip6.sin6_addr) != 0;
}

bool socket_address::is_of_this_machine() const {
  constexpr std::uint32_t loopback_net = 127;
  const auto is_loopback = [](std::uint32_t network_order) {
    return ntohl(network_order) >> 24U == loopback_net;
  };
  if (family() == AF_INET) return is_loopback(storage_.ip4.sin_addr.s_addr);
  if (family() != AF_INET6) return family() == AF_UNIX;
  const auto& ip6 = storage_.ip6.sin6_addr;
  if (!IN6_IS_ADDR_V4MAPPED(&ip6)) return IN6_IS_ADDR_LOOPBACK(&ip6) != 0;
  return is_loopback(ip6.s6_addr32[3]);
}

}  // namespace strata::loop
