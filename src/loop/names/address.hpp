// A socket address as a value: IPv4, IPv6, a Unix path or a MAC address on an interface.
#pragma once

#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"

namespace strata::loop {

class socket_address {
 public:
  socket_address() = default;
  socket_address(const socket_address& other);
  socket_address& operator=(const socket_address& other);
  socket_address(socket_address&& other) noexcept { swap(other); }
  socket_address& operator=(socket_address&& other) noexcept {
    swap(other);
    return *this;
  }
  ~socket_address() {
    if (is_path()) delete rest_.path;
  }
  /// Copies an address from the kernel, whose size is `size`. An IPv4-mapped IPv6 address
  /// (::ffff:a.b.c.d), as an IPv6 socket reports it, becomes an IPv4 address.
  socket_address(const sockaddr* address, socklen_t size);

  /// Parses `host`, a numeric IPv4 or IPv6 address (the latter with an optional `%scope`).
  static result<socket_address> from_ip(const std::string& host, std::uint16_t port);
  /// Returns the address for listening on all addresses of this machine, of IPv4 and of IPv6 (if
  /// the kernel has it).
  static socket_address every(std::uint16_t port);
  static result<socket_address> from_path(const std::string& path);
  static socket_address from_mac(const mac_address& mac, int interface_index);

  [[nodiscard]] const sockaddr* data() const {
    return is_path() ? reinterpret_cast<const sockaddr*>(rest_.path) : &storage_.any;
  }
  [[nodiscard]] socklen_t size() const { return size_; }
  [[nodiscard]] int family() const { return size_ == 0 ? AF_UNSPEC : storage_.any.sa_family; }
  /// 0 for a Unix path.
  [[nodiscard]] std::uint16_t port() const;
  /// The interface of an IPv6 address; 0 if it names none.
  [[nodiscard]] std::uint32_t scope() const {
    return family() == AF_INET6 ? storage_.ip6.sin6_scope_id : 0;
  }
  void set_port(std::uint16_t port);
  /// Zero for an address of another family.
  [[nodiscard]] mac_address mac() const;
  /// Returns `127.0.0.1:80`, `[::1]:80`, `*:80` for all addresses, the path or the MAC address.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string path() const;
  /// Returns `127.0.0.1`, `::1`, `fe80::1%eth0`: without port and brackets. Empty if it is no IP
  /// address.
  [[nodiscard]] std::string ip() const;
  /// Reports whether `every` returned the address.
  [[nodiscard]] bool is_every() const { return is_every_; }
  /// Reports whether it is all addresses of its family, or of both families.
  [[nodiscard]] bool is_any() const;
  /// Reports whether it is a Unix path, or a loopback address of either family.
  [[nodiscard]] bool is_of_this_machine() const;

  /// For the sender of a received datagram: the address of this machine to which the datagram was
  /// sent. A datagram to this address is sent from there, and two addresses that differ in it are
  /// different. Zeros: the kernel chooses.
  [[nodiscard]] const in6_addr& source() const { return is_path() ? in6addr_any : rest_.source; }
  [[nodiscard]] bool has_source() const { return IN6_IS_ADDR_UNSPECIFIED(&source()) == 0; }
  /// Sets the source; an IPv4 address is written as ::ffff:a.b.c.d. A Unix path has none.
  void set_source(const in6_addr& source) {
    if (!is_path()) rest_.source = source;
  }

  bool operator==(const socket_address& other) const;
  [[nodiscard]] std::size_t hash() const;

 private:
  [[nodiscard]] bool is_path() const { return storage_.any.sa_family == AF_UNIX; }
  void set_path(const sockaddr_un& path, std::size_t size);
  void swap(socket_address& other) noexcept {
    std::swap(storage_, other.storage_);
    std::swap(size_, other.size_);
    std::swap(is_every_, other.is_every_);
    std::swap(rest_, other.rest_);
  }

  // Each connection keeps two addresses: they are small.
  union {
    sockaddr any;
    sockaddr_in ip4;
    sockaddr_in6 ip6;
    sockaddr_ll ll;
  } storage_{.ip6 = {}};
  std::uint16_t size_ = 0;
  bool is_every_ = false;
  union {
    in6_addr source;
    const sockaddr_un* path;  // owned, if `is_path()`: it is longer than the other addresses
  } rest_{.source = {}};
};

struct address_hash {
  std::size_t operator()(const socket_address& address) const { return address.hash(); }
};

}  // namespace strata::loop
