// Starting a thread where there may be none left: an error for the one who asked, not the end of
// the process.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "strata/base/result.hpp"

namespace strata::loop {

/// A thread that runs `body`. `operation` says what for, to follow "cannot". Errors: limit_exceeded
/// when the system makes no more.
template <class Body>
[[nodiscard]] result<std::thread> start_thread(std::string operation, Body&& body) {
  try {
    return std::thread(std::forward<Body>(body));
  } catch (const std::system_error& failed) {
    return std::unexpected(error{
        .code = errc::limit_exceeded,
        .operation = std::move(operation),
        .sys_errno = failed.code().value(),
        .reason = "no thread is left",
        .remedy = "raise the limit of processes (ulimit -u, TasksMax= of a systemd unit, pids.max "
                  "of a container)",
        .offset = {}});
  }
}

}  // namespace strata::loop
