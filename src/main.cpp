// The one binary: the CLI, behind its verb `daemon` the daemon, and the keepers of programs.
#include <fcntl.h>
#include <unistd.h>

#include "cli/cli.hpp"
#include "daemon/daemon.hpp"
#include "options/own_lookups.hpp"
#include "process/keeper.hpp"

namespace {

// What is opened later must not become the place that output and the log are written to.
void open_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // Output that nobody gets stays an error for the verb that prints it.
    (void)::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (strata::process::is_keeper(argc, argv)) return strata::process::run_keeper(argc, argv);
  strata::options::use_own_lookups();
  open_standard_descriptors();
  return strata::cli::run(argc, argv, strata::daemon::run);
}
