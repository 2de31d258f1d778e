// The one binary: the CLI, and behind its verb `daemon` the daemon.
#include "cli/cli.hpp"
#include "daemon/daemon.hpp"

int main(int argc, char** argv) {
  return strata::cli::run(argc, argv, [](const strata::cli::daemon_arguments& arguments) {
    return strata::daemon::run({.state_dir = arguments.state_dir,
                                .socket = arguments.socket,
                                .loop = arguments.loop,
                                .loops = arguments.loops,
                                .metrics = arguments.metrics,
                                .log_level = arguments.log_level,
                                .socket_policy = arguments.socket_policy,
                                .drain_timeout = arguments.drain_timeout});
  });
}
