// Runtimes that need the same address, frames or file: finds the one that is in the way.
#pragma once

#include "daemon/supervisor/entry.hpp"

namespace strata::daemon {

/// For an AF_XDP queue the kernel refuses a second socket; for an interface it gives each socket
/// copies. Errors: conflict if another runtime would receive the frames of `newcomer` too.
[[nodiscard]] result<void> check_frames_are_for_one(const entry_map& all, const entry& newcomer);

/// The interface that it waits for because it does not exist; empty: it waits for none.
[[nodiscard]] std::string awaited_interface(const entry& subject);

/// Adds to a start's error which runtime has what `loser` needs, if there is one.
void explain_conflict(const entry_map& all, const entry& loser, error& failed);

}  // namespace strata::daemon
