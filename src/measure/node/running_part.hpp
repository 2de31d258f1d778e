// An order that is being carried out, in parallel with the caller.
#pragma once

#include <cstdint>
#include <memory>

#include "measure/node/order.hpp"
#include "strata/base/result.hpp"

namespace strata::measure {

class running_part {
 public:
  running_part() = default;
  running_part(const running_part&) = delete;
  running_part& operator=(const running_part&) = delete;
  virtual ~running_part() = default;

  /// The port to which the peer sends; 0 on paths without ports.
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// Stops a part that runs until stopped, waits for its end, and returns its result.
  [[nodiscard]] virtual result<end_result> finish() = 0;
};

/// Starts a part in a child of this process: all paths of the library and of the kernel. Its
/// sockets are open when this returns. Errors: not_found (no such path or role), and those of the
/// sockets.
[[nodiscard]] result<std::unique_ptr<running_part>> start_child_part(const order& order);

/// Starts the plain C program, which is beside this one. Errors: not_found if it is missing; and
/// the program's own.
[[nodiscard]] result<std::unique_ptr<running_part>> start_plain_part(const order& order);

/// Returns the path of the plain C program; empty if there is none.
[[nodiscard]] std::string plain_program();

}  // namespace strata::measure
