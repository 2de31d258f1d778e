// The words, the environment and the user with which an instance is started, as the options say.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

#include "process/control_group.hpp"
#include "runtime/program/command.hpp"
#include "runtime/program/options.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::program {

/// The signals that the daemon ignores or handles, and its programs do not.
inline constexpr int usual_signals[] = {SIGPIPE, SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                        SIGCHLD, SIGALRM, SIGUSR1, SIGUSR2};

struct launch {
  std::vector<std::string> words;
  std::vector<std::string> environment;  ///< as of `process::program`
  uid_t user = 0;                        ///< the user that the process runs as
};

/// What an instance may use, with all that it starts. Errors: invalid_argument if `cpus` is not a
/// number of processors.
[[nodiscard]] result<process::group_limits> group_limits_of(const program_options& options);

/// Makes the launch of one instance. `notify_address`: the value of NOTIFY_SOCKET; empty: none.
/// `group_door`: as of `process::control_group::door`; empty: it joins no group.
/// Errors: invalid_argument for a command, a user or a limit that cannot be; permission_denied for
/// a user, if this process is not root's.
[[nodiscard]] result<launch> launch_of(const program_options& options, const place_values& values,
                                       std::string_view notify_address,
                                       const std::string& group_door = {});

/// The launch of another command beside an instance: as the same user, with the same environment
/// and limits, but not as the process that strata watches. `words` are taken as they are. Errors:
/// as above.
[[nodiscard]] result<launch> launch_beside(const program_options& options,
                                           const place_values& values,
                                           std::vector<std::string> words);

}  // namespace strata::runtime::program
