// The current and possible settings of a network interface's driver and hardware, through ethtool's
// netlink family (Documentation/networking/ethtool-netlink.rst): rings, channels, features.
//
// Reading needs no privileges; setting needs CAP_NET_ADMIN in the network namespace. For a setting
// that a driver lacks, the kernel returns an error: not_supported. Linux 5.7 or newer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/nl/generic.hpp"

namespace strata::nl {

/// A count; nullopt if the driver does not have it.
struct bounded_count {
  std::optional<std::uint32_t> now;
  std::optional<std::uint32_t> most;

  bool operator==(const bounded_count&) const = default;
};

/// The number of descriptors in each hardware ring.
struct interface_rings {
  bounded_count rx;
  bounded_count rx_mini;
  bounded_count rx_jumbo;
  bounded_count tx;
};

/// The values to change.
struct ring_change {
  std::optional<std::uint32_t> rx;
  std::optional<std::uint32_t> rx_mini;
  std::optional<std::uint32_t> rx_jumbo;
  std::optional<std::uint32_t> tx;
};

/// Queues with an interrupt each; a combined queue receives and sends.
struct interface_channels {
  bounded_count rx;
  bounded_count tx;
  bounded_count other;
  bounded_count combined;
};

struct channel_change {
  std::optional<std::uint32_t> rx;
  std::optional<std::uint32_t> tx;
  std::optional<std::uint32_t> other;
  std::optional<std::uint32_t> combined;
};

/// An offload or another optional function of the driver.
struct interface_feature {
  std::string name;  ///< "tx-tcp-segmentation"
  bool is_active = false;
  bool is_wanted = false;   ///< active once its requirements are met
  bool can_change = false;  ///< false: `ethtool -k` says "fixed"

  bool operator==(const interface_feature&) const = default;
};

struct feature_change {
  std::string_view name;
  bool to = false;
};

/// A connection to the family "ethtool". Errors of all functions: not_found (no such interface);
/// not_supported (the driver lacks the setting); permission_denied.
class ethtool {
 public:
  [[nodiscard]] static result<ethtool> open(const connection_options& options = {});

  [[nodiscard]] result<interface_rings> rings(std::string_view interface_name);
  [[nodiscard]] result<void> set_rings(std::string_view interface_name, const ring_change& change);
  [[nodiscard]] result<interface_channels> channels(std::string_view interface_name);
  [[nodiscard]] result<void> set_channels(std::string_view interface_name,
                                          const channel_change& change);
  /// Returns all features that this kernel knows, in its order.
  [[nodiscard]] result<std::vector<interface_feature>> features(std::string_view interface_name);
  /// Errors: not_supported for a name that the kernel does not know. A feature that requires
  /// another feature that is off becomes wanted but not active: read the features again.
  [[nodiscard]] result<void> set_features(std::string_view interface_name,
                                          std::span<const feature_change> changes);

 private:
  ethtool(generic generic, std::uint16_t family) : on_(std::move(generic)), family_(family) {}
  [[nodiscard]] wire::netlink_writer request(std::uint8_t command, std::uint16_t header,
                                             std::string_view interface_name);
  [[nodiscard]] result<wire::netlink_attributes> ask(wire::netlink_writer& request,
                                                     std::string_view text,
                                                     std::string_view interface_name);
  [[nodiscard]] result<std::vector<std::string>> feature_names();

  generic on_;
  std::uint16_t family_;
};

}  // namespace strata::nl
