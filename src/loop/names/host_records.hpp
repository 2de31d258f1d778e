// The addresses of a host name, and their lifetime.
#pragma once

#include <chrono>
#include <vector>

#include "loop/names/address.hpp"

namespace strata::loop {

struct host_records {
  std::vector<socket_address> addresses;
  /// How long the addresses are valid, if that was requested too.
  std::chrono::seconds lifetime{};
};

}  // namespace strata::loop
