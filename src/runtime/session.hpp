// An operation that goes on while its caller and the runtime exchange messages.
#pragma once

#include "loop/task.hpp"
#include "net/message_port.hpp"

namespace strata::runtime {

/// On the home loop. It does not use the runtime, which may be removed meanwhile.
class session {
 public:
  session() = default;
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  virtual ~session() = default;

  /// Exchanges messages until the operation or the caller has ended.
  [[nodiscard]] virtual loop::task<> hold(net::message_port& caller) = 0;
  /// Makes `hold` end as if the caller had.
  virtual void end() = 0;
};

}  // namespace strata::runtime
