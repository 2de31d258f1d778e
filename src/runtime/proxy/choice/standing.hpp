// The state of one backend that all loops of a proxy share.
//
// For any thread, without locks: a change by one loop is visible to all.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/proxy/choice/circuit.hpp"
#include "runtime/proxy/choice/moment.hpp"

namespace strata::runtime::proxy {

/// The outcome of a backend's last check.
enum class check_outcome : std::uint8_t { none, passed, failed };

struct standing {
  std::atomic<std::uint64_t> connections = 0;  ///< its present connections and requests
  std::atomic<bool> is_down = false;           ///< according to checks
  std::atomic<check_outcome> last_check = check_outcome::none;
  moment rests_until;
  moment came;  ///< when it was added or returned while the proxy ran; otherwise the epoch
  circuit current;

  /// Takes one of `most` places (0: any number). Returns false if there is none.
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
