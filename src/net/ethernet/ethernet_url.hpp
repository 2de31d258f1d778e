// The part of frame URLs behind the interface: `/0x88b5?dst=MAC&vlan=10&prio=7` of `l2://`,
// `/QUEUE?ethertype=0x88b5&mode=native&vlan=10` of `xdp://`.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "net/endpoint_url.hpp"

namespace strata::net {

/// Parses the part into `url`. The error is the reason alone; the caller knows the whole URL.
[[nodiscard]] std::expected<void, std::string> parse_l2(std::string_view text, endpoint_url& url);
[[nodiscard]] std::expected<void, std::string> parse_xdp(std::string_view text, endpoint_url& url);

[[nodiscard]] std::string write_l2(const endpoint_url& url);
[[nodiscard]] std::string write_xdp(const endpoint_url& url);

}  // namespace strata::net
