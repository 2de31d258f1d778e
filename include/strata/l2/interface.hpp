// Network interfaces of this network namespace, as snapshots.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"

namespace strata::l2 {

/// What was true of an interface when it was asked. A value; nl::route_watch hears of changes.
struct interface {
  std::string name;
  int index = 0;
  mac_address mac;  ///< zero for interfaces that have none, such as lo
  std::uint32_t mtu = 0;
  unsigned flags = 0;           ///< IFF_… of netdevice(7)
  std::uint32_t rx_queues = 1;  ///< of sysfs; 1 where that is not mounted
  std::uint32_t tx_queues = 1;

  [[nodiscard]] bool is_up() const;
  /// Up, and the link carries.
  [[nodiscard]] bool is_running() const;
  [[nodiscard]] bool is_loopback() const;

  /// Errors: not_found when there is none of that name here; invalid_argument when no interface
  /// can have it.
  [[nodiscard]] static result<interface> query(std::string_view name);
  /// The machine's own, `lo` as a rule. Errors: not_found where there is none.
  [[nodiscard]] static result<interface> loopback();
  /// All of them, by index.
  [[nodiscard]] static result<std::vector<interface>> list();

  bool operator==(const interface&) const = default;
};

}  // namespace strata::l2
