// Sockets for the verbs that need no daemon, and the errors when they cannot be opened.
#pragma once

#include "cli/line/invocation.hpp"
#include "strata/l2/raw_socket.hpp"

namespace strata::cli {

/// Converts an error from the library's opening of a socket to the CLI's: there is no such
/// interface, or another reason.
[[nodiscard]] std::unexpected<refusal> refuse_open(const error& why);
/// The same if the daemon was to open it: there may be no daemon.
[[nodiscard]] std::unexpected<refusal> refuse_through_daemon(const error& why);

/// Opens a socket on the interface that is the verb's first word; in this process or, with
/// --through-daemon, in the daemon.
[[nodiscard]] outcome<l2::raw_socket> open_raw_socket(const invocation& call,
                                                      const l2::raw_socket_options& options);

}  // namespace strata::cli
