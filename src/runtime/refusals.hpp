// Clients that are refused: each is counted by its reason, and a few are named in the log.
#pragma once

#include <string_view>

#include "loop/names/address.hpp"
#include "runtime/counters.hpp"
#include "runtime/journal.hpp"

namespace strata::runtime {

/// On the loop whose counters these are. `reason` completes "was refused:". Of each kind of refusal
/// a few lines are written in ten seconds; then how many more there were.
void note_refusal(counters& counted, journal& log, const loop::socket_address& client, refusal kind,
                  std::string_view reason);
/// The same of a client as the log names it.
void note_refusal(counters& counted, journal& log, std::string_view client, refusal kind,
                  std::string_view reason);

}  // namespace strata::runtime
