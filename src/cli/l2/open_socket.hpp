// The sockets of the verbs that need no daemon, and how those end when there is none.
#pragma once

#include "cli/line/invocation.hpp"
#include "strata/l2/raw_socket.hpp"

namespace strata::cli {

/// An error of the library's opening of a socket as the CLI ends with it: there is no such
/// interface, or another reason.
[[nodiscard]] std::unexpected<refusal> refuse_open(const error& why);
/// The same when the daemon was to open it: there may be none.
[[nodiscard]] std::unexpected<refusal> refuse_through_daemon(const error& why);

/// Of the interface that is the verb's first word; made by this process or, with --through-daemon,
/// by the daemon.
[[nodiscard]] outcome<l2::raw_socket> open_raw_socket(const invocation& call,
                                                      const l2::raw_socket_options& options);

}  // namespace strata::cli
