// The words, the environment and the user with which an instance is started, as the options say.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "runtime/program/command.hpp"
#include "runtime/program/options.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::program {

struct launch {
  std::vector<std::string> words;
  std::vector<std::string> environment;  ///< as of `process::program`
  uid_t user = 0;                        ///< the user that the process runs as
};

/// Makes the launch of one instance. `notify_address`: the value of NOTIFY_SOCKET; empty: none.
/// Errors: invalid_argument for a command, a user or a limit that cannot be; permission_denied for
/// a user, if this process is not root's.
[[nodiscard]] result<launch> launch_of(const program_options& options, const place_values& values,
                                       std::string_view notify_address);

}  // namespace strata::runtime::program
