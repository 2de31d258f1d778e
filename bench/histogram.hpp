// Delays in nanoseconds, counted in log-linear buckets: 64 to each power of two, so a percentile is
// exact to 1.6 %, at a fixed 30 KiB however many millions are recorded. The maximum is exact.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace strata::bench {

class histogram {
 public:
  void record(std::uint64_t value) {
    ++counts_[bucket_of(value)];
    ++total_;
    max_ = std::max(max_, value);
  }

  // The upper edge of the bucket that holds the given part (0..1) of all values; 0 when empty.
  std::uint64_t percentile(double part) const {
    const auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(total_));
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      seen += counts_[bucket];
      if (seen > wanted) return std::min(upper_edge(bucket), max_);
    }
    return max_;
  }

  std::uint64_t max() const { return max_; }

 private:
  static constexpr unsigned fine_bits = 6;
  static constexpr std::size_t fine = std::size_t{1} << fine_bits;

  static std::size_t bucket_of(std::uint64_t value) {
    if (value < fine) return value;
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - fine_bits - 1;
    return (shift + 1) * fine + ((value >> shift) & (fine - 1));
  }

  static std::uint64_t upper_edge(std::size_t bucket) {
    if (bucket < fine) return bucket;
    const std::size_t shift = bucket / fine - 1;
    return ((bucket % fine + fine + 1) << shift) - 1;
  }

  std::array<std::uint64_t, (65 - fine_bits) * fine> counts_{};
  std::uint64_t total_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace strata::bench
