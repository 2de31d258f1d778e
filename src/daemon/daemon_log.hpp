// The daemon's log: all lines of this process, those of runtimes among them.
#pragma once

#include <memory>
#include <string>

#include "daemon/supervisor/log_output.hpp"

namespace strata::daemon {

/// From now on lines of at least this level go where `settings` say. Errors: those of the file.
[[nodiscard]] result<std::shared_ptr<log_output>> set_up_log(const std::string& level,
                                                             log_settings settings);

}  // namespace strata::daemon
