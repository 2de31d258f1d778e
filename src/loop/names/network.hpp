// Networks of IPv4 and IPv6 addresses, as people write them: `10.0.0.0/8`, `2001:db8::/32`, or an
// address, which is a network of one.
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
  /// Errors: invalid_argument, naming the text and what is wrong with it.
  [[nodiscard]] static result<network> parse(const std::string& text);

  /// An address of another family is in no network.
  [[nodiscard]] bool contains(const socket_address& address) const;

 private:
  int family_ = 0;
  std::array<std::byte, 16> prefix_{};
  unsigned bits_ = 0;
};

/// Whether one of them contains it.
[[nodiscard]] bool is_in(const std::vector<network>& networks, const socket_address& address);

}  // namespace strata::loop
