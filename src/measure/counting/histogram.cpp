#include "measure/counting/histogram.hpp"

#include <bit>

namespace strata::measure {

std::size_t histogram::bucket_of(std::uint64_t value) {
  if (value < fine) return value;
  const auto shift = static_cast<unsigned>(std::bit_width(value)) - fine_bits - 1;
  return (shift + 1) * fine + ((value >> shift) & (fine - 1));
}

double histogram::middle_of(std::size_t bucket) {
  if (bucket < fine) return static_cast<double>(bucket);
  const std::size_t shift = bucket / fine - 1;
  const auto width = static_cast<double>(std::uint64_t{1} << shift);
  return (static_cast<double>(bucket % fine + fine) + 0.5) * width - 0.5;
}

void histogram::add(const sparse& other) {
  for (const auto& [bucket, count] : other) {
    if (bucket >= counts_.size()) continue;
    counts_[bucket] += count;
    total_ += count;
  }
}

histogram::sparse histogram::buckets() const {
  sparse found;
  for (std::uint32_t bucket = 0; bucket < counts_.size(); ++bucket) {
    if (counts_[bucket] != 0) found.emplace_back(bucket, counts_[bucket]);
  }
  return found;
}

double histogram::percentile(double part) const {
  const auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(total_));
  std::uint64_t seen = 0;
  std::size_t last = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    if (counts_[bucket] == 0) continue;
    seen += counts_[bucket];
    last = bucket;
    if (seen > wanted) break;
  }
  return total_ == 0 ? 0 : middle_of(last);
}

}  // namespace strata::measure
