// The clock of an engine on a loop.
#pragma once

#include <algorithm>
#include <memory>

#include "loop/os_loop.hpp"
#include "runtime/cache/engine/engine_clock.hpp"

namespace strata::runtime::cache {

/// In a simulated world there is only the loop's time, which stands still during a turn. So that
/// budgets are used up there too, each read of the steady clock counts as some time of work. The
/// world's date begins at a fixed day.
class simulated_clock final : public engine_clock {
 public:
  explicit simulated_clock(const loop::loop& loop) : loop_(loop) {}
  [[nodiscard]] std::int64_t steady_us() const override {
    seen_us_ = std::max(loop_us(), seen_us_ + work_between_looks_us);
    return seen_us_;
  }
  [[nodiscard]] std::int64_t wall_us() const override { return first_day_us + loop_us(); }

 private:
  static constexpr std::int64_t first_day_us = 1'700'000'000'000'000;
  static constexpr std::int64_t work_between_looks_us = 200;
  [[nodiscard]] std::int64_t loop_us() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(loop_.now().time_since_epoch())
        .count();
  }

  const loop::loop& loop_;
  mutable std::int64_t seen_us_ = 0;
};

/// Returns the machine's clocks, unless the loop is simulated. The loop must outlive the clock.
[[nodiscard]] inline std::unique_ptr<engine_clock> make_clock(const loop::loop& loop) {
  if (dynamic_cast<const loop::os_loop*>(&loop) != nullptr)
    return std::make_unique<machine_clock>();
  return std::make_unique<simulated_clock>(loop);
}

}  // namespace strata::runtime::cache
