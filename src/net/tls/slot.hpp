// Where listeners find the current TLS context. Any thread may replace it at any time; connections
// keep the context that they began with.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "net/tls/context.hpp"

namespace strata::net {

class tls_slot {
 public:
  /// Null if there is none.
  [[nodiscard]] std::shared_ptr<const tls_context> get() const {
    const std::lock_guard guard(lock_);
    return now_;
  }
  void set(std::shared_ptr<const tls_context> next) {
    const std::lock_guard guard(lock_);
    now_.swap(next);
  }

 private:
  mutable std::mutex lock_;
  std::shared_ptr<const tls_context> now_;
};

}  // namespace strata::net
