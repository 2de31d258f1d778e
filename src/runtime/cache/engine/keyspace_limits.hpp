// The parameters that a keyspace itself uses: the limit of its memory, its eviction policy, and the
// events that it reports.
#pragma once

#include <cstdint>

namespace strata::runtime::cache {

/// Kinds of keyspace events, with their letters in notify-keyspace-events.
enum event_class : std::uint32_t {
  event_keyspace = 1U << 0U,  // K
  event_keyevent = 1U << 1U,  // E
  event_generic = 1U << 2U,   // g
  event_string = 1U << 3U,    // $
  event_list = 1U << 4U,      // l
  event_set = 1U << 5U,       // s
  event_hash = 1U << 6U,      // h
  event_zset = 1U << 7U,      // z
  event_expired = 1U << 8U,   // x
  event_evicted = 1U << 9U,   // e
  event_stream = 1U << 10U,   // t
  event_module = 1U << 11U,   // d
  event_miss = 1U << 12U,     // m
  event_new = 1U << 13U,      // n
};

enum class eviction : std::uint8_t {
  none,
  all_lru,
  volatile_lru,
  all_lfu,
  volatile_lfu,
  all_random,
  volatile_random,
  volatile_ttl,
};
[[nodiscard]] inline bool is_lfu(eviction policy) {
  return policy == eviction::all_lfu || policy == eviction::volatile_lfu;
}
/// Reports whether only keys with an expiry are evicted.
[[nodiscard]] inline bool is_for_expiring(eviction policy) {
  return policy == eviction::volatile_lru || policy == eviction::volatile_lfu ||
         policy == eviction::volatile_random || policy == eviction::volatile_ttl;
}

struct keyspace_limits {
  std::int64_t maxmemory = 0;  ///< bytes; 0: no limit
  eviction policy = eviction::none;
  std::int64_t maxmemory_samples = 5;
  std::int64_t lfu_log_factor = 10;
  std::int64_t lfu_decay_minutes = 1;
  std::uint32_t events = 0;  ///< of `event_class`
  bool lazy_expire = false;
  bool active_rehashing = true;
};

}  // namespace strata::runtime::cache
