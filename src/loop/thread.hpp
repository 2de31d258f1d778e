// Starts a thread, and returns an error instead of ending the process if none is left.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "strata/base/result.hpp"

namespace strata::loop {

/// Starts a thread that runs `body`. `operation` is its purpose, to follow "cannot". Errors:
/// limit_exceeded if the system creates no more threads.
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
