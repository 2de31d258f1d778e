// A descriptor that becomes readable when a stop is requested, to poll together with others.
#pragma once

#include <sys/eventfd.h>

#include <cerrno>
#include <memory>
#include <stop_token>
#include <utility>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::ipc {

class stop_event {
 public:
  /// Errors: the system's, if the process has no more descriptors.
  [[nodiscard]] static result<std::unique_ptr<stop_event>> create(std::stop_token stop) {
    unique_fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event) return system_failure(errno, "create a stop event");
    return std::make_unique<stop_event>(std::move(event), std::move(stop));
  }
  stop_event(unique_fd event, std::stop_token stop)
      : event_(std::move(event)), signal_(std::move(stop), write_event{event_.get()}) {}

  [[nodiscard]] int fd() const { return event_.get(); }

 private:
  struct write_event {
    int fd;
    void operator()() const noexcept { ::eventfd_write(fd, 1); }
  };

  unique_fd event_;
  std::stop_callback<write_event> signal_;
};

/// Calls `handler` with each message that `receive` returns, until it returns false or a stop is
/// requested. If there is no message, calls `wait`, which must return at the latest when the given
/// descriptor is readable.
template <class Handler, class Receive, class Wait>
[[nodiscard]] result<void> receive_until(const std::stop_token& stop, const Handler& handler,
                                         Receive receive, Wait wait) {
  const auto stopping = stop_event::create(stop);
  if (!stopping) return std::unexpected(stopping.error());
  while (!stop.stop_requested()) {
    const auto next = receive();
    if (!next) return std::unexpected(next.error());
    if (*next) {
      if (!handler(**next)) return {};
    } else if (auto waited = wait((*stopping)->fd()); !waited) {
      return waited;
    }
  }
  return {};
}

}  // namespace strata::ipc
