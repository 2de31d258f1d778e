// Watches how much memory the connections of one loop hold, and has them checked when it may exceed
// the limit.
//
// Nothing is summed up while bytes arrive and leave: the bytes received since the last check are
// the most by which the memory can have grown, and connections are checked only when that may
// exceed the limit. So a served connection costs one addition. For one loop's thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "loop/loop.hpp"

namespace strata::serve {

/// The memory of a connection: unfinished input and unsent output.
template <class Connection>
struct held_memory {
  Connection by;
  std::size_t bytes;
  loop::time_point last_whole;  ///< when its last message or request was complete
};

/// Returns the connections to close so that an eighth of `limit` is free again: those whose last
/// message is longest ago. `sum`: the bytes that all hold.
template <class Connection>
[[nodiscard]] std::vector<held_memory<Connection>> longest_unfinished(
    std::vector<held_memory<Connection>>& all, std::uint64_t sum, std::uint64_t limit) {
  std::vector<held_memory<Connection>> chosen;
  std::ranges::stable_sort(all, {}, &held_memory<Connection>::last_whole);
  for (const auto& each : all) {
    if (sum <= limit - limit / 8) break;
    if (each.bytes == 0) continue;
    chosen.push_back(each);
    sum -= std::min<std::uint64_t>(sum, each.bytes);
  }
  return chosen;
}

class memory_watch final : private loop::timer {
 public:
  struct view {
    std::uint64_t held;  ///< by all connections
    bool goes_on;        ///< it may grow without a call of `grew`
  };
  /// `limit`: 0 means none. `look` sums up, and closes connections.
  memory_watch(loop::loop& loop, std::function<std::uint64_t()> limit, std::function<view()> look)
      : loop_(loop), limit_(std::move(limit)), look_(std::move(look)) {}

  /// Reports that at most `bytes` more are held from now on.
  void grew(std::size_t bytes) {
    may_hold_ += bytes;
    if (may_hold_ > looks_at_ && !is_soon_) look_soon();
    if (!armed()) loop_.arm_after(*this, usual_pause);
  }
  /// Checks soon: the limit has changed.
  void look_soon() {
    is_soon_ = true;
    loop_.arm_after(*this, moment);
  }

 private:
  static constexpr auto usual_pause = std::chrono::seconds(1);
  // By then most output is gone: it is sent at the turn's end.
  static constexpr auto moment = std::chrono::milliseconds(5);

  void on_timer() override {
    is_soon_ = false;
    const auto seen = look_();
    const auto limit = limit_();
    may_hold_ = seen.held;
    looks_at_ = limit == 0 ? UINT64_MAX : std::max(limit, seen.held + limit / 8);
    if (seen.held != 0 || seen.goes_on) loop_.arm_after(*this, usual_pause);
  }

  loop::loop& loop_;
  std::function<std::uint64_t()> limit_;
  std::function<view()> look_;
  std::uint64_t may_hold_ = 0;
  std::uint64_t looks_at_ = 0;
  bool is_soon_ = false;
};

}  // namespace strata::serve
