// How recently, or how often, a key was accessed, in 24 bits, as Redis approximates it: seconds
// (LRU), or 16 bits of minutes and 8 bits of a logarithmic counter that decays (LFU). Source: "Key
// eviction", redis.io.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "runtime/cache/engine/keyspace_limits.hpp"

namespace strata::runtime::cache {

inline constexpr std::uint32_t access_mask = 0xFFFFFF;

/// Returns the value for a new key.
[[nodiscard]] std::uint32_t first_access(const keyspace_limits& limits, std::int64_t now_ms);
/// Returns the value for a key that is accessed now, whose value was `before`.
[[nodiscard]] std::uint32_t next_access(const keyspace_limits& limits, std::uint32_t before,
                                        std::int64_t now_ms, std::mt19937_64& random);
/// Returns the value for a key from elsewhere, with its idle time or its frequency, or neither.
[[nodiscard]] std::uint32_t stored_access(const keyspace_limits& limits, std::int64_t now_ms,
                                          std::optional<std::int64_t> idle_s,
                                          std::optional<std::int64_t> frequency);
/// LRU: returns how long the key has not been accessed.
[[nodiscard]] std::int64_t idle_seconds(std::uint32_t access, std::int64_t now_ms);
/// LFU: returns its counter, decayed until now.
[[nodiscard]] std::uint32_t use_frequency(const keyspace_limits& limits, std::uint32_t access,
                                          std::int64_t now_ms);

}  // namespace strata::runtime::cache
