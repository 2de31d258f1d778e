// A socket address as a value: IPv4, IPv6, a Unix path or a MAC address on an interface.
#pragma once

#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <string>

#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"

namespace strata::loop {

class socket_address {
 public:
  socket_address() = default;
  socket_address(const socket_address& other);
  socket_address& operator=(const socket_address& other);
  socket_address(socket_address&& other) noexcept = default;
  socket_address& operator=(socket_address&& other) noexcept = default;
  ~socket_address() = default;
  /// Copies what the kernel wrote; `size` is what the kernel said it is. An IPv4 address that an
  /// IPv6 socket tells of (::ffff:a.b.c.d) is an IPv4 address here.
  socket_address(const sockaddr* address, socklen_t size);

  /// `host` is a numeric IPv4 or IPv6 address (a `%scope` may follow the latter).
  static result<socket_address> from_ip(const std::string& host, std::uint16_t port);
  /// To listen on: all addresses of this machine, of IPv4 and of IPv6 (where the kernel has it).
  static socket_address every(std::uint16_t port);
  static result<socket_address> from_path(const std::string& path);
  static socket_address from_mac(const mac_address& mac, int interface_index);

  [[nodiscard]] const sockaddr* data() const {
    return path_ ? reinterpret_cast<const sockaddr*>(path_.get()) : &storage_.any;
  }
  [[nodiscard]] socklen_t size() const { return size_; }
  [[nodiscard]] int family() const { return size_ == 0 ? AF_UNSPEC : data()->sa_family; }
  /// 0 for a Unix path.
  [[nodiscard]] std::uint16_t port() const;
  /// The interface that an IPv6 address is meant on; 0: it does not say.
  [[nodiscard]] std::uint32_t scope() const {
    return family() == AF_INET6 ? storage_.ip6.sin6_scope_id : 0;
  }
  void set_port(std::uint16_t port);
  /// Zero when it is of another family.
  [[nodiscard]] mac_address mac() const;
  /// `127.0.0.1:80`, `[::1]:80`, `*:80` for all, the path or the MAC address.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string path() const;
  /// `127.0.0.1`, `::1`, `fe80::1%eth0`: without port and brackets. Empty when it is no IP address.
  [[nodiscard]] std::string ip() const;
  /// Whether it is what `every` makes.
  [[nodiscard]] bool is_every() const { return is_every_; }
  /// It is all addresses of its family, or of both.
  [[nodiscard]] bool is_any() const;
  /// A Unix path, or a loopback address of either family.
  [[nodiscard]] bool is_of_this_machine() const;

  /// Of one whose datagram has come: which address of this machine it was sent to. A datagram to it
  /// leaves from there, and two that differ in it are two. Zeros: the kernel chooses.
  [[nodiscard]] const in6_addr& source() const { return source_; }
  [[nodiscard]] bool has_source() const { return IN6_IS_ADDR_UNSPECIFIED(&source_) == 0; }
  /// An IPv4 address is written as ::ffff:a.b.c.d.
  void set_source(const in6_addr& source) { source_ = source; }

  bool operator==(const socket_address& other) const;
  [[nodiscard]] std::size_t hash() const;

 private:
  union {
    sockaddr any;
    sockaddr_in ip4;
    sockaddr_in6 ip6;
    sockaddr_ll ll;
  } storage_{.ip6 = {}};
  socklen_t size_ = 0;
  bool is_every_ = false;
  in6_addr source_{};
  // Of a Unix path, which is longer than the others and rare; null else.
  std::unique_ptr<const sockaddr_un> path_;
};

struct address_hash {
  std::size_t operator()(const socket_address& address) const { return address.hash(); }
};

}  // namespace strata::loop
