// Waiting for a device again and again, without spinning.
#pragma once

#include <chrono>
#include <optional>

#include "strata/l2/device.hpp"

namespace strata::l2 {

/// One wait until a device takes or gives a frame, in as many steps as tries fail. Where poll says
/// that the device is ready and a try shows that it is not (a queueing discipline is full, of which
/// the socket knows nothing; the newest frame of a ring is held), it sleeps, longer each time.
class back_off {
 public:
  /// For `events` of poll(2); no longer than `timeout`, and without one for ever.
  back_off(const device& device, short events, std::optional<std::chrono::milliseconds> timeout);

  /// After a try that failed. False when the time is over.
  [[nodiscard]] result<bool> wait();

 private:
  using clock = std::chrono::steady_clock;

  const device& on_;
  short events_;
  clock::time_point limit_;
  bool was_ready_ = false;
  clock::duration pause_;
};

/// That there was no room to send a frame of `size` bytes for that long.
[[nodiscard]] error no_room(std::size_t size, const interface& interface,
                            std::chrono::milliseconds timeout);

}  // namespace strata::l2
