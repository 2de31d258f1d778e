// Snapshots of the network interfaces of this network namespace.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"

namespace strata::l2 {

/// The state of an interface at the time of the query. A value; nl::route_watch reports changes.
struct interface {
  std::string name;
  int index = 0;
  mac_address mac;  ///< zero for interfaces that have none, such as lo
  std::uint32_t mtu = 0;
  unsigned flags = 0;           ///< IFF_… of netdevice(7)
  std::uint32_t rx_queues = 1;  ///< from sysfs; 1 if it is not mounted
  std::uint32_t tx_queues = 1;

  [[nodiscard]] bool is_up() const;
  /// Reports whether the interface is up and has a carrier.
  [[nodiscard]] bool is_running() const;
  [[nodiscard]] bool is_loopback() const;

  /// Errors: not_found if no interface has this name; invalid_argument if no interface can have it.
  [[nodiscard]] static result<interface> query(std::string_view name);
  /// Returns the loopback interface, normally `lo`. Errors: not_found if there is none.
  [[nodiscard]] static result<interface> loopback();
  /// Returns all interfaces, by index.
  [[nodiscard]] static result<std::vector<interface>> list();

  bool operator==(const interface&) const = default;
};

}  // namespace strata::l2
