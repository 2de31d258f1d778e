#include "strata/l2/device.hpp"

#include <poll.h>

#include <cerrno>

namespace strata::l2 {

namespace {

using clock = std::chrono::steady_clock;

result<bool> wait(const device& on, short events,
                  std::optional<std::chrono::milliseconds> timeout) {
  if (on.fd() < 0) return true;
  const auto limit = timeout ? clock::now() + *timeout : clock::time_point::max();
  for (;;) {
    timespec left{};
    if (timeout) {
      const auto rest = std::max(limit - clock::now(), clock::duration::zero());
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(rest);
      left = {.tv_sec = seconds.count(), .tv_nsec = (rest - seconds).count()};
    }
    pollfd asked{.fd = on.fd(), .events = events, .revents = 0};
    const int count = ::ppoll(&asked, 1, timeout ? &left : nullptr, nullptr);
    if (count > 0) return true;
    if (count == 0) return false;
    if (errno != EINTR) return system_failure(errno, "wait on interface " + on.link().name);
  }
}

}  // namespace

result<bool> wait_readable(const device& on, std::optional<std::chrono::milliseconds> timeout) {
  return wait(on, POLLIN, timeout);
}

result<bool> wait_writable(const device& on, std::optional<std::chrono::milliseconds> timeout) {
  return wait(on, POLLOUT, timeout);
}

result<void> send_frame(device& over, byte_span frame) {
  for (;;) {
    const auto taken = over.try_send({&frame, 1});
    if (!taken) return std::unexpected(taken.error());
    if (*taken == 1) return {};
    if (auto ready = wait_writable(over, std::nullopt); !ready) {
      return std::unexpected(ready.error());
    }
  }
}

result<received_frame> receive_frame(device& from, mutable_byte_span memory,
                                     std::optional<std::chrono::milliseconds> timeout) {
  const auto limit = timeout ? clock::now() + *timeout : clock::time_point::max();
  frame_slot slot{.memory = memory, .frame = {}};
  for (;;) {
    const auto count = from.try_receive({&slot, 1});
    if (!count) return std::unexpected(count.error());
    if (*count == 1) return slot.frame;
    auto left = timeout;
    if (timeout) {
      left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - clock::now());
      left = std::max(*left, std::chrono::milliseconds::zero());
    }
    const auto ready = wait_readable(from, left);
    if (!ready) return std::unexpected(ready.error());
    if (!*ready) {
      return failure(errc::timed_out, "receive a frame on " + from.link().name,
                     "none came in " + std::to_string(timeout->count()) + " ms");
    }
  }
}

}  // namespace strata::l2
