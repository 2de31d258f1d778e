// Counts and logs the events of connections before they are served, for runtimes that listen.
#pragma once

#include "runtime/counters.hpp"
#include "runtime/journal.hpp"
#include "serve/acceptor.hpp"

namespace strata::runtime {

/// Settings of an acceptor that count and log refused clients, certificates of clients, failed
/// handshakes, and failures to accept. The runtime sets the rest. All arguments outlive them; they
/// belong to the acceptor's loop.
[[nodiscard]] serve::acceptor_settings counting_settings(serve::connection_gauge& connections,
                                                         counters& counted, journal& log);

}  // namespace strata::runtime
