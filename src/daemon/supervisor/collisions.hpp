// Runtimes that want one address, one interface's frames or one file: which other one is in the
// way.
#pragma once

#include "daemon/supervisor/entry.hpp"

namespace strata::daemon {

/// Of a queue of AF_XDP the kernel refuses a second socket; of an interface it gives each its
/// copies. Errors: conflict when another runtime would hear the frames of `newcomer` too.
[[nodiscard]] result<void> check_frames_are_for_one(const entry_map& all, const entry& newcomer);

/// The interface that it waits for, since there is none of that name; empty: it waits for none.
[[nodiscard]] std::string awaited_interface(const entry& subject);

/// Adds to the error of a start which runtime has what `loser` wanted, if it was one.
void explain_conflict(const entry_map& all, const entry& loser, error& failed);

}  // namespace strata::daemon
