// The command line of strata: every command goes through `run`.
#pragma once

#include <functional>

#include "options/daemon_options.hpp"

namespace strata::cli {

/// Runs the command and returns the exit code: 0 done, 1 failed, 2 misused, 3 not found, 4 daemon
/// not reachable. Data goes to standard output, messages to standard error. The verb `daemon` calls
/// `run_daemon`, whose exit code is then returned. SIGPIPE is ignored from here on.
[[nodiscard]] int run(int argc, char** argv,
                      const std::function<int(const options::daemon_options&)>& run_daemon);

}  // namespace strata::cli
