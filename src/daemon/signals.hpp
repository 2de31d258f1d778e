// The signals of the daemon's process.
#pragma once

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::daemon {

/// Blocks the signals that the daemon heeds, in this and all later threads: they are read from the
/// descriptor, as in signalfd(2). Those that have no meaning for it are ignored. Call it before
/// there are threads.
[[nodiscard]] result<unique_fd> take_signals();
/// SIGTERM and SIGINT end the process at once from now on.
void heed_no_more_endings();
/// The kernel ends the process ten seconds after the time-out: its thread may hang in a write to a
/// disk or a log that blocks.
void limit_ending(double drain_timeout_s);

}  // namespace strata::daemon
