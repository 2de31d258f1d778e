// strata daemon
#include <unistd.h>

#include "cli/line/command_line.hpp"
#include "cli/system/rows.hpp"
#include "options/locations.hpp"

namespace strata::cli {

outcome<int> run_daemon(const invocation& call) {
  const auto paths = options::paths_for(options::current_path_environment());
  options::daemon_options wanted{.state_dir = paths.state_dir, .socket = call.daemon.socket};
  const auto given = pick_flags(call.flags, options::daemon_rows());
  if (auto set = options::apply_json(wanted, options::daemon_table(), given); !set) {
    return refuse(exit_misused, set.error());
  }
  // A policy that the user names must exist; the default one need not.
  const auto usual_policy = paths.config_dir + "/socket-policy";
  if (wanted.socket_policy.empty() && !paths.config_dir.empty() &&
      ::access(usual_policy.c_str(), F_OK) == 0) {
    wanted.socket_policy = usual_policy;
  }
  return call.run_daemon(wanted);
}

}  // namespace strata::cli
