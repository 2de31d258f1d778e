// The daemon: all parts put together, from the start to SIGTERM.
#pragma once

#include "options/daemon_options.hpp"

namespace strata::daemon {

/// Runs until SIGTERM or SIGINT. Returns the process' exit code: 0, or 1 with the reason on stderr.
[[nodiscard]] int run(const options::daemon_options& options);

}  // namespace strata::daemon
