// Refused clients: each is counted by its reason, and a few are named in the log.
#pragma once

#include <string_view>

#include "loop/names/address.hpp"
#include "runtime/counters.hpp"
#include "runtime/journal.hpp"

namespace strata::runtime {

/// Call it on the loop of these counters. `reason` completes "was refused:". A few lines for each
/// kind of refusal are written in ten seconds; then the number of further ones.
void note_refusal(counters& counted, journal& log, const loop::socket_address& client, refusal kind,
                  std::string_view reason);
/// The same for a client in the form of the log.
void note_refusal(counters& counted, journal& log, std::string_view client, refusal kind,
                  std::string_view reason);

}  // namespace strata::runtime
