// An order being carried out, beside whoever gave it.
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

  /// Where the peer is to send to; 0 on paths without ports.
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// Asks one that goes on to stop, waits for its end, and says what it saw.
  [[nodiscard]] virtual result<end_result> finish() = 0;
};

/// In a child of this process: all paths of the library and of the kernel. Its sockets are open
/// when it returns. Errors: not_found (no such path or role), and of the sockets.
[[nodiscard]] result<std::unique_ptr<running_part>> start_child_part(const order& order);

/// The plain C program, which stands beside this one. Errors: not_found when it does not; and what
/// it says itself.
[[nodiscard]] result<std::unique_ptr<running_part>> start_plain_part(const order& order);

/// Where the plain C program is; empty when there is none.
[[nodiscard]] std::string plain_program();

}  // namespace strata::measure
