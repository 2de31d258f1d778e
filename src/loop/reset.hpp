// How a connection is ended that was broken, so that its peer does not take a part for the whole.
#pragma once

#include "loop/loop.hpp"

namespace strata::loop {

/// Closing `descriptor`, a TCP connection of `loop`, will reset it (RFC 9293 section 3.10.5,
/// ABORT): the peer reads an error in place of the end of stream, and what is unsent is lost. Of a
/// Unix socket it reads the end all the same, and so it does in the simulation.
void reset_on_close(const loop& loop, const descriptor& descriptor);

}  // namespace strata::loop
