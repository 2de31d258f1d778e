// What is known of a host by its name.
#pragma once

#include <chrono>
#include <vector>

#include "loop/names/address.hpp"

namespace strata::loop {

struct host_records {
  std::vector<socket_address> addresses;
  /// How long they are good for, where that was asked too.
  std::chrono::seconds lifetime{};
};

}  // namespace strata::loop
