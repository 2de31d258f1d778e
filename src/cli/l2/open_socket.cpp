#include "cli/l2/open_socket.hpp"

#include <cerrno>

namespace strata::cli {

std::unexpected<refusal> refuse_open(const error& why) {
  return refuse(why.code == errc::not_found ? exit_not_found : exit_failed, why);
}

std::unexpected<refusal> refuse_through_daemon(const error& why) {
  const bool is_alone = why.sys_errno == ENOENT || why.sys_errno == ECONNREFUSED;
  return is_alone ? refuse(exit_unreachable, why) : refuse_open(why);
}

outcome<l2::raw_socket> open_raw_socket(const invocation& call,
                                        const l2::raw_socket_options& options) {
  if (call.is_set("through_daemon")) {
    auto given = l2::raw_socket::open_through_daemon(call.words[0], options);
    if (!given) return refuse_through_daemon(given.error());
    return std::move(*given);
  }
  auto made = l2::raw_socket::create_bound(call.words[0], options);
  if (!made) return refuse_open(made.error());
  return std::move(*made);
}

}  // namespace strata::cli
