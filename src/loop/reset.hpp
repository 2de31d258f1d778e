// Ends a broken connection so that its peer does not mistake a part for the whole.
#pragma once

#include "loop/loop.hpp"

namespace strata::loop {

/// Sets closing `descriptor`, a TCP connection of `loop`, to reset it (RFC 9293 section 3.10.5,
/// ABORT): the peer reads an error instead of the end of stream, and unsent bytes are lost. The
/// peer of a Unix socket still reads the end of stream, as in the simulation.
void reset_on_close(const loop& loop, const descriptor& descriptor);

}  // namespace strata::loop
