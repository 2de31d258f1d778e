#include "loop/reset.hpp"

#include <sys/socket.h>

namespace strata::loop {

void reset_on_close(const loop& loop, const descriptor& descriptor) {
  if (loop.backend() == "simulation") return;  // its descriptors are not the kernel's
  constexpr linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

}  // namespace strata::loop
