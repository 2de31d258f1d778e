// Who may have which AF_XDP sockets of the daemon: a file with a rule a line,
//
//     user=alice iface=eth0 queue=0-3 ethertype=0x88b5
//     group=plant iface=eth1
//
// What a rule does not name it allows; what no rule allows is forbidden.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.hpp"
#include "strata/xdp/broker.hpp"

namespace strata::daemon {

struct xdp_rule {
  std::optional<std::uint32_t> user;
  std::optional<std::uint32_t> group;
  std::string interface_name;
  std::uint32_t first_queue = 0;
  std::uint32_t last_queue = UINT32_MAX;
  /// Only filters for this EtherType; sockets that only send are not bound to it.
  std::optional<std::uint16_t> ethertype;

  [[nodiscard]] bool allows(const xdp::broker_peer& who, const xdp::broker_request& what) const;
};

class xdp_policy {
 public:
  /// Errors: malformed, naming the line; permission_denied when others may write the file.
  [[nodiscard]] static result<xdp_policy> read(const std::string& path);
  [[nodiscard]] static result<xdp_policy> parse(std::string_view text, const std::string& name);

  /// Errors: permission_denied.
  [[nodiscard]] result<void> check(const xdp::broker_peer& who,
                                   const xdp::broker_request& what) const;
  [[nodiscard]] const std::vector<xdp_rule>& rules() const { return rules_; }

 private:
  std::vector<xdp_rule> rules_;
};

}  // namespace strata::daemon
