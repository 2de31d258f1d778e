// How recently, or how often, a key was used, in 24 bits, as Redis approximates it: seconds (LRU),
// or 16 bits of minutes and 8 bits of a logarithmic counter that decays (LFU).
// Source: "Key eviction", redis.io.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "runtime/cache/engine/keyspace_limits.hpp"

namespace strata::runtime::cache {

inline constexpr std::uint32_t access_mask = 0xFFFFFF;

/// Of a key that is made now.
[[nodiscard]] std::uint32_t first_access(const keyspace_limits& limits, std::int64_t now_ms);
/// Of a key last seen with `before` that is used now.
[[nodiscard]] std::uint32_t next_access(const keyspace_limits& limits, std::uint32_t before,
                                        std::int64_t now_ms, std::mt19937_64& random);
/// Of a key that comes from elsewhere, of which one or neither is told.
[[nodiscard]] std::uint32_t told_access(const keyspace_limits& limits, std::int64_t now_ms,
                                        std::optional<std::int64_t> idle_s,
                                        std::optional<std::int64_t> frequency);
/// LRU: for how long it has not been used.
[[nodiscard]] std::int64_t idle_seconds(std::uint32_t access, std::int64_t now_ms);
/// LFU: its counter, decayed until now.
[[nodiscard]] std::uint32_t use_frequency(const keyspace_limits& limits, std::uint32_t access,
                                          std::int64_t now_ms);

}  // namespace strata::runtime::cache
