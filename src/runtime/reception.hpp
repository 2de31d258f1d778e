// How runtimes that listen count and log what happens to connections before they are served.
#pragma once

#include "runtime/counters.hpp"
#include "runtime/journal.hpp"
#include "serve/acceptor.hpp"

namespace strata::runtime {

/// A reception that counts and logs: who is refused, who has shown a certificate, whose handshake
/// fails, and that no connection can be accepted. The rest is the runtime's. All of them outlive
/// it; they belong to the acceptor's loop.
[[nodiscard]] serve::reception counting_reception(serve::connection_gauge& connections,
                                                  counters& counted, journal& log);

}  // namespace strata::runtime
