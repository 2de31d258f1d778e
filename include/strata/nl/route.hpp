// Links and addresses through rtnetlink (rtnetlink(7)): queries, events as they happen, and
// changes. All in the network namespace of the thread that opens the connection. Queries need no
// privileges, changes need CAP_NET_ADMIN. A connection is for one thread at a time. Linux 6.1 or
// newer.
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
  mac_address mac;  ///< zero if the link has none
  std::uint32_t mtu = 0;
  unsigned flags = 0;       ///< IFF_… of netdevice(7)
  std::string kind;         ///< "veth", "vlan", …; empty for hardware
  std::optional<int> peer;  ///< the other end of a veth, or a VLAN device's underlying link
  std::uint32_t rx_queues = 1;
  std::uint32_t tx_queues = 1;
  std::optional<int> master;      ///< the bridge or other interface of which it is a port
  std::optional<vlan_kind> vlan;  ///< for a VLAN device; its parent is `peer`

  [[nodiscard]] bool is_up() const;
  /// Reports whether the link is up and has a carrier.
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
  /// Parses what `text` returns; without a prefix, uses all bits. Errors: invalid_argument.
  [[nodiscard]] static result<link_address> from_text(int interface_index, std::string_view text);
  bool operator==(const link_address&) const = default;
};

/// An event. A changed link carries its complete new state.
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

/// The properties of a link to change; the rest stays.
struct link_changes {
  std::optional<std::string> name;
  std::optional<std::uint32_t> mtu;
  std::optional<bool> up;
  std::optional<mac_address> mac;
  std::optional<int> master;             ///< an index; 0: none
  std::optional<int> network_namespace;  ///< moves the link there: a descriptor, as in `veth_kind`
};

/// A link to create. For a veth, both ends get the MTU, and this end the other settings.
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

  /// Returns all links, by index.
  [[nodiscard]] result<std::vector<link>> links();
  /// Errors: not_found.
  [[nodiscard]] result<link> link_named(std::string_view name);
  [[nodiscard]] result<link> link_at(int index);
  [[nodiscard]] result<std::vector<link_address>> addresses();
  /// Returns the queueing disciplines of an interface, the root first.
  [[nodiscard]] result<std::vector<qdisc>> qdiscs(int index);

  /// Creates a link and returns its state. Errors: already_exists; not_supported (the kernel lacks
  /// this kind of link); permission_denied; invalid_argument, with the kernel's text.
  [[nodiscard]] result<link> add_link(const new_link& link);
  /// Sends one request to the kernel, which does not roll back if it rejects a part: the changes
  /// before that part, in the order of `link_changes`, have taken effect. Errors: not_found; as
  /// `add_link`.
  [[nodiscard]] result<void> set_link(int index, const link_changes& changes);
  /// Errors: not_found; not_supported (a hardware link, or lo).
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

/// Reports changes of links and addresses from the time it is opened on: open it first, then query
/// the current state.
class route_watch {
 public:
  enum class subject : std::uint8_t { links, links_and_addresses };
  [[nodiscard]] static result<route_watch> open(subject subject = subject::links_and_addresses,
                                                const connection_options& options = {});

  /// Returns the descriptor to poll: readable when there is an event.
  [[nodiscard]] int fd() const { return over_.fd(); }
  /// Returns the next event, or nullopt if there is none. Errors: limit_exceeded (ENOBUFS) if
  /// events were lost: query the current state again.
  [[nodiscard]] result<std::optional<route_event>> try_event();

 private:
  explicit route_watch(connection connection) : over_(std::move(connection)) {}
  connection over_;
};

}  // namespace strata::nl
