// The folder in which runtimes leave data for the daemon that takes over: `handover` in the state
// folder. It exists during a takeover only.
#pragma once

#include <string>

#include "strata/base/result.hpp"

namespace strata::daemon::takeover {

/// Makes the folder, empty (mode 0700). Errors: those of the file system.
[[nodiscard]] result<void> make_handover_folder(const std::string& state_dir);
/// Removes it with all in it, if it exists.
void remove_handover_folder(const std::string& state_dir);

}  // namespace strata::daemon::takeover
