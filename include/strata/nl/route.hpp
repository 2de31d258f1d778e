// Links and addresses by rtnetlink (rtnetlink(7)): what there is, what happens to it, told by the
// kernel as it happens, and changes. Of the network namespace of the thread that opens it. Looking
// needs no privileges, changing CAP_NET_ADMIN. A connection is for one thread at a time. Linux 6.1
// or newer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "strata/base/mac_address.hpp"
#include "strata/nl/connection.hpp"
#include "strata/nl/link_kind.hpp"
#include "strata/nl/qdisc.hpp"

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
  std::optional<int> master;      ///< the bridge, or other interface, that it is a port of
  std::optional<vlan_kind> vlan;  ///< of a VLAN device; its parent is `peer`

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
  /// The same read; all bits without a prefix. Errors: invalid_argument.
  [[nodiscard]] static result<link_address> from_text(int interface_index, std::string_view text);
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

/// What is to change of a link; the rest stays.
struct link_changes {
  std::optional<std::string> name;
  std::optional<std::uint32_t> mtu;
  std::optional<bool> up;
  std::optional<mac_address> mac;
  std::optional<int> master;             ///< an index; 0: of none
  std::optional<int> network_namespace;  ///< moves it there: a descriptor, as `veth_kind` says
};

/// A link to be made; of a veth both ends have the MTU, and this one the rest.
struct new_link {
  std::string name;
  link_kind kind;
  std::optional<std::uint32_t> mtu;
  std::optional<mac_address> mac;
  bool up = false;
};

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
  /// The queueing disciplines of an interface, the root first.
  [[nodiscard]] result<std::vector<qdisc>> qdiscs(int index);

  /// Makes a link, and says what it is. Errors: already_exists; not_supported (the kernel has no
  /// links of that kind); permission_denied; invalid_argument, with the kernel's words.
  [[nodiscard]] result<link> add_link(const new_link& link);
  /// One request to the kernel, which does not go back where it refuses a part of it: what is
  /// before that, in the order of `link_changes`, is changed. Errors: not_found; as `add_link`.
  [[nodiscard]] result<void> set_link(int index, const link_changes& changes);
  /// Errors: not_found; not_supported (a link that is hardware, or lo).
  [[nodiscard]] result<void> remove_link(int index);
  /// Errors: already_exists; not_found (no such link).
  [[nodiscard]] result<void> add_address(const link_address& address);
  /// Errors: not_found.
  [[nodiscard]] result<void> remove_address(const link_address& address);

 private:
  explicit route(connection connection) : over_(std::move(connection)) {}
  [[nodiscard]] result<link> ask_for(wire::netlink_writer& request, std::string_view operation);
  [[nodiscard]] result<void> change_address(std::uint16_t type, std::uint16_t flags,
                                            const link_address& address,
                                            std::string_view operation);

  connection over_;
};

/// Hears of links and addresses from the moment on when it was opened: open it first, and look
/// at what there is then.
class route_watch {
 public:
  enum class subject : std::uint8_t { links, links_and_addresses };
  [[nodiscard]] static result<route_watch> open(subject subject = subject::links_and_addresses,
                                                const connection_options& options = {});

  /// To poll: readable when something has happened.
  [[nodiscard]] int fd() const { return over_.fd(); }
  /// The next event; nullopt when there is none now. Errors: limit_exceeded (ENOBUFS) when some
  /// were lost: look at what there is again.
  [[nodiscard]] result<std::optional<route_event>> try_event();

 private:
  explicit route_watch(connection connection) : over_(std::move(connection)) {}
  connection over_;
};

}  // namespace strata::nl
