// Networks of IPv4 and IPv6 addresses in the usual notation: `10.0.0.0/8`, `2001:db8::/32`, or a
// single address, which is a network of one.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "loop/names/address.hpp"
#include "strata/base/result.hpp"

namespace strata::loop {

class network {
 public:
  /// Errors: invalid_argument, naming the text and its fault.
  [[nodiscard]] static result<network> parse(const std::string& text);

  /// Reports whether the network contains `address`; false for another family.
  [[nodiscard]] bool contains(const socket_address& address) const;

 private:
  int family_ = 0;
  std::array<std::byte, 16> prefix_{};
  unsigned bits_ = 0;
};

/// Reports whether any of the networks contains the address.
[[nodiscard]] bool is_in(const std::vector<network>& networks, const socket_address& address);

}  // namespace strata::loop
