// What all loops of a proxy know together of one backend.
//
// For any thread, without locks: a number that one loop has changed is the number for all of them.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/proxy/choice/circuit.hpp"
#include "runtime/proxy/choice/moment.hpp"

namespace strata::runtime::proxy {

struct standing {
  std::atomic<std::uint64_t> connections = 0;  ///< and requests, that it has now
  std::atomic<bool> is_down = false;           ///< as checks have found
  moment rests_until;
  moment came;  ///< added, or backend, while the proxy ran; else the clock's beginning
  circuit current;

  /// Takes a place, of `most` (0: of any number). False: there is none.
  [[nodiscard]] bool enter(std::uint64_t most) {
    if (most == 0) {
      connections.fetch_add(1);
      return true;
    }
    auto now = connections.load();
    while (now < most) {
      if (connections.compare_exchange_weak(now, now + 1)) return true;
    }
    return false;
  }
  void leave() { connections.fetch_sub(1); }
};

}  // namespace strata::runtime::proxy
