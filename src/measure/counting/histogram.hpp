// Times in nanoseconds, counted in log-linear buckets as HdrHistogram does it: 64 to each power of
// two, so that a percentile is exact to 1.6 %, at a fixed 30 KiB however many are recorded. The
// plain C contender (bench/plain_packet.c) has the same buckets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace strata::measure {

class histogram {
 public:
  /// Buckets that are not empty, by number; how a histogram travels.
  using sparse = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

  void record(std::uint64_t value) {
    ++counts_[bucket_of(value)];
    ++total_;
  }
  /// Adds what another counted; buckets that do not exist are left out.
  void add(const sparse& other);
  [[nodiscard]] sparse buckets() const;

  [[nodiscard]] std::uint64_t total() const { return total_; }
  /// The middle of the bucket that holds the given part (0 to 1) of all values; 0 when empty.
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
