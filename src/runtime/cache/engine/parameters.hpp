// What CONFIG GET and CONFIG SET reach: one row a parameter, in parameters.cpp. Some parameters are
// options of the runtime under Redis's name: then the option is the value, and there is no other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cache/engine/output_limits.hpp"
#include "runtime/cache/engine/permission.hpp"
#include "runtime/cache/options.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::cache {

/// Kinds of keyspace events, as notify-keyspace-events lists them by letters.
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
[[nodiscard]] bool is_for_expiring(eviction policy);

struct parameters {
  /// After a change of them call `heed_options()`.
  cache_options options;

  // What is worked out from the options, by `heed_options()` alone.
  std::int64_t maxmemory = 0;
  eviction policy = eviction::none;
  permission access = permission::admin;
  std::string directory;
  std::string snapshot_file;
  std::string log_file;
  bool append_only = false;

  std::int64_t maxmemory_samples = 5;
  std::int64_t lfu_log_factor = 10;
  std::int64_t lfu_decay_minutes = 1;
  std::int64_t hash_max_pack_entries = 512;
  std::int64_t hash_max_pack_value = 64;
  std::int64_t set_max_integers = 512;
  std::int64_t sorted_set_max_pack_entries = 128;
  std::int64_t sorted_set_max_pack_value = 64;
  std::int64_t list_max_pack_size = -2;
  std::int64_t slow_log_us = 10'000;
  std::int64_t slow_log_length = 128;
  std::int64_t latency_threshold_ms = 0;
  std::int64_t tracking_max_keys = 1'000'000;
  std::int64_t max_bulk = 512 << 20;
  std::int64_t max_query_buffer = 1 << 30;
  std::int64_t idle_timeout_s = 0;
  std::int64_t tcp_keepalive_s = 300;
  std::int64_t hz = 10;
  std::uint32_t events = 0;
  std::int64_t backlog_size = 1 << 20;
  std::int64_t replication_timeout_s = 60;
  std::int64_t replication_ping_s = 10;
  std::int64_t rewrite_percentage = 100;
  std::int64_t rewrite_min_size = 64 << 20;
  bool stop_writes_on_save_error = true;
  output_limits output;
  bool lazy_expire = false;
  bool latency_tracking = false;
  bool active_rehashing = true;

  /// Name and value of each parameter that `pattern` matches.
  [[nodiscard]] std::vector<std::pair<std::string_view, std::string>> find(
      std::string_view pattern) const;
  /// Works out what the options mean.
  void heed_options();
  /// Errors: the reason's text is what Redis says behind "ERR ".
  [[nodiscard]] result<void> set(std::string_view name, std::string_view value);
};

}  // namespace strata::runtime::cache
