// A daemon that does not answer: which process it is, and why, if that can be found out.
#pragma once

#include <string>

#include "cli/line/daemon_address.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

/// "the daemon (pid 7) at /run/s has not answered 'GET /v1/runtimes' within 30 s: it is stopped…".
/// `fd` is connected to it, `text` is the request.
[[nodiscard]] refusal silent_daemon(int fd, const daemon_address& daemon, const std::string& text);

}  // namespace strata::cli
