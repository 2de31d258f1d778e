// A point in time at which the loop calls back. Destroying it disarms it.
#pragma once

#include <algorithm>
#include <boost/intrusive/set.hpp>
#include <chrono>

namespace strata::loop {

using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::nanoseconds;

/// Converts seconds, clamped to some thirty years either way so that a time of day can be added; a
/// value that is not a number becomes 0.
[[nodiscard]] inline duration from_seconds(double seconds) {
  constexpr double most = 1e9;
  const double within = seconds != seconds ? 0 : std::clamp(seconds, -most, most);
  return std::chrono::duration_cast<duration>(std::chrono::duration<double>(within));
}

class timer : public boost::intrusive::set_base_hook<
                  boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  timer() = default;
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;
  virtual ~timer() = default;

  [[nodiscard]] bool armed() const { return is_linked(); }
  void disarm() {
    if (is_linked()) unlink();
  }
  [[nodiscard]] time_point deadline() const { return deadline_; }

 protected:
  virtual void on_timer() = 0;

 private:
  friend class loop;
  time_point deadline_;
};

struct earlier {
  bool operator()(const timer& a, const timer& b) const { return a.deadline() < b.deadline(); }
};

using timer_queue = boost::intrusive::multiset<timer, boost::intrusive::compare<earlier>,
                                               boost::intrusive::constant_time_size<false>>;

}  // namespace strata::loop
