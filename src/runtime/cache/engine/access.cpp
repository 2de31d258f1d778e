#include "runtime/cache/engine/access.hpp"

#include <algorithm>

namespace strata::runtime::cache {

namespace {

constexpr std::uint32_t first_count = 5;
constexpr std::uint32_t most_count = 255;

std::uint32_t seconds_of(std::int64_t now_ms) {
  return static_cast<std::uint32_t>(now_ms / 1000) & access_mask;
}

std::uint32_t minutes_of(std::int64_t now_ms) {
  return static_cast<std::uint32_t>(now_ms / 60'000) & 0xFFFFU;
}

// Counts an access, with a probability that decreases with the count.
std::uint32_t counted(const keyspace_limits& limits, std::uint32_t count, std::mt19937_64& random) {
  if (count >= most_count) return most_count;
  const double base = count > first_count ? count - first_count : 0;
  const double chance = 1.0 / (base * static_cast<double>(limits.lfu_log_factor) + 1);
  const double roll = static_cast<double>(random() >> 11U) * 0x1p-53;
  return roll < chance ? count + 1 : count;
}

}  // namespace

std::uint32_t first_access(const keyspace_limits& limits, std::int64_t now_ms) {
  return is_lfu(limits.policy) ? minutes_of(now_ms) << 8U | first_count : seconds_of(now_ms);
}

std::uint32_t next_access(const keyspace_limits& limits, std::uint32_t before, std::int64_t now_ms,
                          std::mt19937_64& random) {
  if (!is_lfu(limits.policy)) return seconds_of(now_ms);
  return minutes_of(now_ms) << 8U | counted(limits, use_frequency(limits, before, now_ms), random);
}

std::uint32_t stored_access(const keyspace_limits& limits, std::int64_t now_ms,
                            std::optional<std::int64_t> idle_s,
                            std::optional<std::int64_t> frequency) {
  if (is_lfu(limits.policy)) {
    const auto count = static_cast<std::uint32_t>(frequency.value_or(first_count)) & 0xFFU;
    return minutes_of(now_ms) << 8U | count;
  }
  return (seconds_of(now_ms) - static_cast<std::uint32_t>(idle_s.value_or(0))) & access_mask;
}

std::int64_t idle_seconds(std::uint32_t access, std::int64_t now_ms) {
  return (seconds_of(now_ms) - access) & access_mask;
}

std::uint32_t use_frequency(const keyspace_limits& limits, std::uint32_t access,
                            std::int64_t now_ms) {
  const std::uint32_t count = access & 0xFFU;
  if (limits.lfu_decay_minutes == 0) return count;
  const auto minutes = (minutes_of(now_ms) - (access >> 8U)) & 0xFFFFU;
  const auto periods = minutes / static_cast<std::uint32_t>(limits.lfu_decay_minutes);
  return count > periods ? count - periods : 0;
}

}  // namespace strata::runtime::cache
