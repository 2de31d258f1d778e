// The clock of a cache's engine: for measurements (the slow log, latencies, budgets) and for
// display (MONITOR, TIME). The time by which keys expire is separate: it stands still while
// commands are executed, and `keyspace::set_time` sets it.
#pragma once

#include <chrono>
#include <cstdint>

namespace strata::runtime::cache {

class engine_clock {
 public:
  engine_clock() = default;
  engine_clock(const engine_clock&) = delete;
  engine_clock& operator=(const engine_clock&) = delete;
  virtual ~engine_clock() = default;

  /// Returns microseconds since some moment; never decreases. It may stand still: then no budget is
  /// ever used up.
  [[nodiscard]] virtual std::int64_t steady_us() const = 0;
  /// Microseconds since 1970.
  [[nodiscard]] virtual std::int64_t wall_us() const = 0;
};

/// The machine's clocks.
class machine_clock final : public engine_clock {
 public:
  [[nodiscard]] std::int64_t steady_us() const override {
    return us_of(std::chrono::steady_clock::now().time_since_epoch());
  }
  [[nodiscard]] std::int64_t wall_us() const override {
    return us_of(std::chrono::system_clock::now().time_since_epoch());
  }

 private:
  template <class Duration>
  static std::int64_t us_of(Duration since) {
    return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  }
};

}  // namespace strata::runtime::cache
