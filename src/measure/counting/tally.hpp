// The receiver's count of received messages and duplicates. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "measure/counting/histogram.hpp"
#include "measure/counting/message.hpp"

namespace strata::measure {

class tally {
 public:
  /// `sleeps` plants the bug that the benchmark's own test must find: 1 ms of sleep every 1000
  /// messages.
  tally(std::uint64_t run, bool sleeps) : run_(run), sleeps_(sleeps) {}

  /// Begins a batch of received messages; call `take` for each of them.
  void begin() {
    now_ns_ = now_ns();
    if (first_ns_ == 0) first_ns_ = now_ns_;
    if (first_count_ == 0) first_count_ = delivered_;
    last_ns_ = now_ns_;
  }
  void take(byte_span payload) {
    if (payload.size() < sizeof(stamp)) {
      ++strays_;
      return;
    }
    stamp found;
    std::memcpy(&found, payload.data(), sizeof found);
    if (found.run != run_) {
      ++strays_;
      return;
    }
    if (!is_new(found.sequence)) return;
    last_ = found;
    ++delivered_;
    if (found.time_ns != 0) delays_.record(now_ns_ - std::min(found.time_ns, now_ns_));
    if (sleeps_ && delivered_ % 1000 == 0) sleep();
  }

  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }
  [[nodiscard]] std::uint64_t duplicates() const { return duplicates_; }
  /// The number of messages that arrived after a later one.
  [[nodiscard]] std::uint64_t reordered() const { return reordered_; }
  /// The number of messages of another run, or not of this benchmark.
  [[nodiscard]] std::uint64_t strays() const { return strays_; }
  [[nodiscard]] const stamp& last() const { return last_; }
  [[nodiscard]] const histogram& delays() const { return delays_; }
  /// Messages per second, from the end of the first batch to the end of the last; 0 if all arrived
  /// in one batch.
  [[nodiscard]] double rate() const;

 private:
  // How far behind the newest message a late one can still be told from a duplicate.
  static constexpr std::uint64_t window = 1U << 16U;

  bool is_new(std::uint64_t sequence) {
    if (sequence == next_) [[likely]] {
      ++next_;
      mark(sequence);
      return true;
    }
    return is_new_out_of_order(sequence);
  }
  bool is_new_out_of_order(std::uint64_t sequence);
  void mark(std::uint64_t sequence) {
    seen_[sequence % window / 64] |= std::uint64_t{1} << (sequence % 64);
  }
  void clear(std::uint64_t sequence) {
    seen_[sequence % window / 64] &= ~(std::uint64_t{1} << (sequence % 64));
  }
  static void sleep();

  std::uint64_t run_;
  bool sleeps_;
  std::uint64_t now_ns_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t first_count_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t delivered_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t reordered_ = 0;
  std::uint64_t strays_ = 0;
  stamp last_;
  std::array<std::uint64_t, window / 64> seen_{};
  histogram delays_;
};

}  // namespace strata::measure
