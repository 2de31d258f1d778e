#include "cli/open_socket.hpp"

#include <cerrno>

#include "cli/report.hpp"

namespace strata::cli {

std::unexpected<refusal> refuse_open(const error& why) {
  const bool is_alone = why.sys_errno == ENOENT || why.sys_errno == ECONNREFUSED;
  if (is_alone) return refuse(exit_unreachable, why);
  return refuse(why.code == errc::not_found ? exit_not_found : exit_failed, why);
}

outcome<l2::raw_socket> open_raw_socket(const invocation& call,
                                        const l2::raw_socket_options& options) {
  auto made = call.is_set("through-daemon")
                  ? l2::raw_socket::open_through_daemon(call.words[0], options)
                  : l2::raw_socket::create_bound(call.words[0], options);
  if (!made) return refuse_open(made.error());
  return std::move(*made);
}

}  // namespace strata::cli
