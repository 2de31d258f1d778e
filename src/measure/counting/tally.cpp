#include "measure/counting/tally.hpp"

#include <chrono>
#include <thread>

namespace strata::measure {

// Each bit belongs to the newest of the sequences that share it, so skipped sequences are cleared.
bool tally::is_new_out_of_order(std::uint64_t sequence) {
  if (sequence > next_) {
    const auto from = sequence - next_ > window ? sequence - window : next_;
    for (auto passed = from; passed < sequence; ++passed) clear(passed);
    next_ = sequence + 1;
    mark(sequence);
    return true;
  }
  const bool is_old = next_ - sequence > window;
  const bool is_seen = (seen_[sequence % window / 64] >> (sequence % 64) & 1U) != 0;
  if (is_old || is_seen) {
    ++duplicates_;
    return false;
  }
  mark(sequence);
  ++reordered_;
  return true;
}

void tally::sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

double tally::rate() const {
  if (first_count_ == 0 || last_ns_ == first_ns_) return 0;
  return static_cast<double>(delivered_ - first_count_) * 1e9 /
         static_cast<double>(last_ns_ - first_ns_);
}

}  // namespace strata::measure
