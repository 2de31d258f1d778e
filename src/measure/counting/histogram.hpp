// A histogram of times in nanoseconds, in log-linear buckets like HdrHistogram's: 64 per power of
// two, so that a percentile is exact to 1.6 %, in a fixed 30 KiB however many values are recorded.
// The plain C contender (bench/plain_packet.c) has the same buckets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace strata::measure {

class histogram {
 public:
  /// Non-empty buckets, by number; the form in which a histogram is transferred.
  using sparse = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

  void record(std::uint64_t value) {
    ++counts_[bucket_of(value)];
    ++total_;
  }
  /// Adds another histogram's buckets; ignores buckets that do not exist.
  void add(const sparse& other);
  [[nodiscard]] sparse buckets() const;

  [[nodiscard]] std::uint64_t total() const { return total_; }
  /// Returns the middle of the bucket that holds the given quantile (0 to 1) of all values; 0 if
  /// empty.
  [[nodiscard]] double percentile(double part) const;

 private:
  static constexpr unsigned fine_bits = 6;
  static constexpr std::size_t fine = std::size_t{1} << fine_bits;

  static std::size_t bucket_of(std::uint64_t value);
  static double middle_of(std::size_t bucket);

  std::array<std::uint64_t, (65 - fine_bits) * fine> counts_{};
  std::uint64_t total_ = 0;
};

}  // namespace strata::measure
