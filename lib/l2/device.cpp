#include "strata/l2/device.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "l2/back_off.hpp"

namespace strata::l2 {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// The time that a frame of 60 bytes takes at 10 Mbit/s.
constexpr clock::duration shortest_pause = 50us;
constexpr clock::duration longest_pause = 5ms;

clock::time_point limit_of(std::optional<std::chrono::milliseconds> timeout) {
  return timeout ? clock::now() + *timeout : clock::time_point::max();
}

result<bool> wait_until(const device& device, short events, clock::time_point limit) {
  if (device.fd() < 0) return true;
  for (;;) {
    timespec left{};
    const bool is_limited = limit != clock::time_point::max();
    if (is_limited) {
      const auto rest = std::max(limit - clock::now(), clock::duration::zero());
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(rest);
      left = {.tv_sec = seconds.count(), .tv_nsec = (rest - seconds).count()};
    }
    pollfd asked{.fd = device.fd(), .events = events, .revents = 0};
    const int count = ::ppoll(&asked, 1, is_limited ? &left : nullptr, nullptr);
    if (count > 0) return true;
    if (count == 0) return false;
    if (errno != EINTR) return system_failure(errno, "wait on interface " + device.link().name);
  }
}

}  // namespace

back_off::back_off(const device& device, short events,
                   std::optional<std::chrono::milliseconds> timeout)
    : on_(device), events_(events), limit_(limit_of(timeout)), pause_(shortest_pause) {}

result<bool> back_off::wait() {
  const auto now = clock::now();
  if (now >= limit_) return false;
  const auto ready = wait_until(on_, events_, now);
  if (!ready) return ready;
  if (!*ready) {
    was_ready_ = false;
    pause_ = shortest_pause;
    return wait_until(on_, events_, limit_);
  }
  // The first time may be coincidence: the device became ready after the try.
  if (std::exchange(was_ready_, true)) {
    std::this_thread::sleep_for(std::min(pause_, limit_ - now));
    pause_ = std::min(2 * pause_, longest_pause);
  }
  return true;
}

error no_room(std::size_t size, const interface& interface, std::chrono::milliseconds timeout) {
  return {.code = errc::timed_out,
          .operation = "send a frame of " + std::to_string(size) + " bytes on " + interface.name,
          .reason = "no buffer space became free in " + std::to_string(timeout.count()) + " ms",
          .remedy = "check whether the queueing discipline is too slow: tc -s qdisc show dev " +
                    interface.name,
          .offset = {}};
}

result<bool> wait_readable(const device& device, std::optional<std::chrono::milliseconds> timeout) {
  return wait_until(device, POLLIN, limit_of(timeout));
}

result<bool> wait_writable(const device& device, std::optional<std::chrono::milliseconds> timeout) {
  return wait_until(device, POLLOUT, limit_of(timeout));
}

result<void> send_frame(device& device, byte_span frame,
                        std::optional<std::chrono::milliseconds> timeout) {
  back_off room(device, POLLOUT, timeout);
  for (;;) {
    const auto taken = device.try_send({&frame, 1});
    if (!taken) return std::unexpected(taken.error());
    if (*taken == 1) return {};
    const auto waited = room.wait();
    if (!waited) return std::unexpected(waited.error());
    if (!*waited) return std::unexpected(no_room(frame.size(), device.link(), *timeout));
  }
}

result<received_frame> receive_frame(device& device, mutable_byte_span memory,
                                     std::optional<std::chrono::milliseconds> timeout) {
  back_off arrival(device, POLLIN, timeout);
  frame_slot slot{.memory = memory, .frame = {}};
  for (;;) {
    const auto count = device.try_receive({&slot, 1});
    if (!count) return std::unexpected(count.error());
    if (*count == 1) return slot.frame;
    const auto waited = arrival.wait();
    if (!waited) return std::unexpected(waited.error());
    if (!*waited) {
      return failure(errc::timed_out, "receive a frame on " + device.link().name,
                     "none arrived in " + std::to_string(timeout->count()) + " ms");
    }
  }
}

}  // namespace strata::l2
