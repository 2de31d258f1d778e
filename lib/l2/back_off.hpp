// Waits repeatedly for a device, without spinning.
#pragma once

#include <chrono>
#include <optional>

#include "strata/l2/device.hpp"

namespace strata::l2 {

/// One wait until a device accepts or delivers a frame, with one step per failed try. If poll
/// reports that the device is ready but a try shows that it is not (a queueing discipline is full,
/// which the socket does not know; the newest frame of a ring is held), it sleeps, longer each
/// time.
class back_off {
 public:
  /// Waits for `events` of poll(2), for at most `timeout` (forever without one).
  back_off(const device& device, short events, std::optional<std::chrono::milliseconds> timeout);

  /// Call it after a failed try. Returns false if the time is over.
  [[nodiscard]] result<bool> wait();

 private:
  using clock = std::chrono::steady_clock;

  const device& on_;
  short events_;
  clock::time_point limit_;
  bool was_ready_ = false;
  clock::duration pause_;
};

/// Returns the error that there was no room to send a frame of `size` bytes for `timeout`.
[[nodiscard]] error no_room(std::size_t size, const interface& interface,
                            std::chrono::milliseconds timeout);

}  // namespace strata::l2
