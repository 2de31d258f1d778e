// Which users may have which sockets from the daemon: a file with one rule per line,
//
//     user=alice  iface=eth0 queue=0-3 ethertype=0x88b5
//     group=plant iface=eth1
//     user=alice  iface=eth2 ethertype=0x88b5 socket=packet sends=everywhere
//
// A rule applies to AF_XDP sockets, or with socket=packet to AF_PACKET sockets. The kernel cannot
// restrict sending on those to one interface, so such a rule must say sends=everywhere. Otherwise,
// a rule allows everything that it does not restrict; what no rule allows is forbidden.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "strata/base/result.hpp"
#include "strata/l2/broker.hpp"
#include "strata/xdp/broker.hpp"

namespace strata::daemon {

using socket_request = std::variant<xdp::broker_request, l2::packet_request>;
/// The request as text, to follow "give user 1000".
[[nodiscard]] std::string text_of(const socket_request& request);

struct socket_rule {
  std::optional<std::uint32_t> user;
  std::optional<std::uint32_t> group;
  std::string interface_name;
  bool is_packet = false;  ///< AF_PACKET instead of AF_XDP
  bool sends_everywhere = false;
  std::uint32_t first_queue = 0;
  std::uint32_t last_queue = UINT32_MAX;
  /// Restricts filters to this EtherType; sockets that only send are not bound to it.
  std::optional<std::uint16_t> ethertype;

  [[nodiscard]] bool allows(const broker::peer& peer, const socket_request& request) const;

 private:
  [[nodiscard]] bool is_about(const xdp::broker_request& request) const;
  [[nodiscard]] bool is_about(const l2::packet_request& request) const;
};

class socket_policy {
 public:
  /// Reads a policy. Errors: malformed, naming the line; permission_denied if other users may write
  /// the file or replace it in its folder, or if it is a link.
  [[nodiscard]] static result<socket_policy> read(const std::string& path);
  [[nodiscard]] static result<socket_policy> parse(std::string_view text, const std::string& name);

  /// Errors: permission_denied.
  [[nodiscard]] result<void> check(const broker::peer& peer, const socket_request& request) const;
  [[nodiscard]] const std::vector<socket_rule>& rules() const { return rules_; }

 private:
  std::vector<socket_rule> rules_;
};

}  // namespace strata::daemon
