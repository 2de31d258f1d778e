// strata daemon
#include <unistd.h>

#include "cli/system/rows.hpp"
#include "options/locations.hpp"

namespace strata::cli {

outcome<int> run_daemon(const invocation& call) {
  const auto paths = options::paths_for(options::current_path_environment());
  const daemon_arguments usual;
  // One that is named must be there; the usual one need not.
  auto policy = call.text("socket_policy");
  const auto usual_policy = paths.config_dir + "/socket-policy";
  if (policy.empty() && !paths.config_dir.empty() && ::access(usual_policy.c_str(), F_OK) == 0)
    policy = usual_policy;
  return call.run_daemon({.state_dir = call.text("state_dir", paths.state_dir),
                          .socket = call.socket,
                          .socket_group = call.text("socket_group"),
                          .loop = call.text("loop", usual.loop),
                          .loops = call.flags.value("loops", usual.loops),
                          .metrics = call.text("metrics"),
                          .log_level = call.text("log_level", usual.log_level),
                          .socket_policy = policy,
                          .drain_timeout = call.flags.value("drain_timeout", usual.drain_timeout)});
}

}  // namespace strata::cli
