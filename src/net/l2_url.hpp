// The part of an `l2://` URL behind the interface: `/0x88b5?dst=MAC&vlan=10&prio=7`.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "net/endpoint_url.hpp"

namespace strata::net {

/// The error is the reason alone, for whoever knows the whole URL.
[[nodiscard]] std::expected<l2_address, std::string> parse_l2(std::string_view text);

[[nodiscard]] std::string write_l2(const l2_address& address);

}  // namespace strata::net
