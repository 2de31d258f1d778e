// The clock of an engine that works on a loop.
#pragma once

#include <memory>

#include "loop/os_loop.hpp"
#include "runtime/cache/engine/engine_clock.hpp"

namespace strata::runtime::cache {

/// In a simulated world the loop's time is all there is: it stands still during a turn, and the
/// world began on a day like any other.
class simulated_clock final : public engine_clock {
 public:
  explicit simulated_clock(const loop::loop& on) : loop_(on) {}
  [[nodiscard]] std::int64_t steady_us() const override {
    return std::chrono::duration_cast<std::chrono::microseconds>(loop_.now().time_since_epoch())
        .count();
  }
  [[nodiscard]] std::int64_t wall_us() const override { return first_day_us + steady_us(); }

 private:
  static constexpr std::int64_t first_day_us = 1'700'000'000'000'000;
  const loop::loop& loop_;
};

/// The machine's clocks, unless the loop is a simulated one. The loop must outlive it.
[[nodiscard]] inline std::unique_ptr<engine_clock> make_clock(const loop::loop& on) {
  if (dynamic_cast<const loop::os_loop*>(&on) != nullptr) return std::make_unique<machine_clock>();
  return std::make_unique<simulated_clock>(on);
}

}  // namespace strata::runtime::cache
