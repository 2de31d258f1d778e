// Links and addresses by rtnetlink (rtnetlink(7)): what there is, and what happens to it, told by
// the kernel as it happens. Of the network namespace of the thread that opens it. Needs no
// privileges. Linux 6.1 or newer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "strata/base/mac_address.hpp"
#include "strata/nl/connection.hpp"

namespace strata::nl {

/// A network interface.
struct link {
  int index = 0;
  std::string name;
  mac_address mac;  ///< zero for those that have none
  std::uint32_t mtu = 0;
  unsigned flags = 0;       ///< IFF_… of netdevice(7)
  std::string kind;         ///< "veth", "vlan", …; empty for hardware
  std::optional<int> peer;  ///< the other end of a veth, or what a VLAN device stands on
  std::uint32_t rx_queues = 1;
  std::uint32_t tx_queues = 1;

  [[nodiscard]] bool is_up() const;
  /// Up, and the link carries.
  [[nodiscard]] bool is_running() const;
  bool operator==(const link&) const = default;
};

/// An address of an interface.
struct link_address {
  int interface_index = 0;
  bool is_v6 = false;
  std::vector<std::byte> bytes;  ///< 4 or 16, in network byte order
  std::uint8_t prefix = 0;       ///< bits

  /// "192.0.2.1/24"
  [[nodiscard]] std::string text() const;
  bool operator==(const link_address&) const = default;
};

/// What happened. Of a link that changed, all that is so now.
struct link_changed {
  link now;
};
struct link_removed {
  link last;
};
struct address_added {
  link_address what;
};
struct address_removed {
  link_address what;
};
using route_event = std::variant<link_changed, link_removed, address_added, address_removed>;

/// A connection to rtnetlink.
class route {
 public:
  [[nodiscard]] static result<route> open(connection_options options = {});

  /// By index.
  [[nodiscard]] result<std::vector<link>> links();
  /// Errors: not_found.
  [[nodiscard]] result<link> link_named(std::string_view name);
  [[nodiscard]] result<link> link_at(int index);
  [[nodiscard]] result<std::vector<link_address>> addresses();

 private:
  explicit route(connection over) : over_(std::move(over)) {}
  [[nodiscard]] result<link> ask_for(wire::netlink_writer& request, std::string_view operation);

  connection over_;
};

/// Hears of links and addresses from the moment on when it was opened: open it first, and look
/// at what there is then.
class route_watch {
 public:
  enum class subject : std::uint8_t { links, links_and_addresses };
  [[nodiscard]] static result<route_watch> open(subject of = subject::links_and_addresses,
                                                const connection_options& options = {});

  /// To poll: readable when something has happened.
  [[nodiscard]] int fd() const { return over_.fd(); }
  /// The next event; nullopt when there is none now. Errors: limit_exceeded (ENOBUFS) when some
  /// were lost: look at what there is again.
  [[nodiscard]] result<std::optional<route_event>> try_event();

 private:
  explicit route_watch(connection over) : over_(std::move(over)) {}
  connection over_;
};

}  // namespace strata::nl
