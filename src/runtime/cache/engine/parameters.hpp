// The parameters of CONFIG GET and CONFIG SET: one row each, in parameters.cpp. Some parameters are
// options of the runtime under Redis's name: then the option holds the value, and nothing else
// does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cache/engine/clients/output_limits.hpp"
#include "runtime/cache/engine/clients/permission.hpp"
#include "runtime/cache/engine/idle_parameters.hpp"
#include "runtime/cache/engine/keyspace_limits.hpp"
#include "runtime/cache/engine/version.hpp"
#include "runtime/cache/options.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::cache {

struct parameters : keyspace_limits {
  /// After changing them, call `heed_options()`.
  cache_options options;

  // Derived from the options, only by `heed_options()`; as are the memory's limit and the eviction
  // policy.
  permission access = permission::admin;
  redis_version version = redis_versions.front();
  std::string directory;
  std::string acl_file;
  std::string snapshot_file;
  std::string log_file;
  bool append_only = false;
  std::string threads = "1";

  // The cache's listening addresses, set when it listens.
  std::string port = "0";      ///< of tcp://
  std::string tls_port = "0";  ///< of tls://
  std::string addresses;       ///< of both, separated by blanks
  std::string unix_socket;

  std::int64_t hash_max_pack_entries = 512;
  std::int64_t hash_max_pack_value = 64;
  std::int64_t set_max_integers = 512;
  std::int64_t sorted_set_max_pack_entries = 128;
  std::int64_t sorted_set_max_pack_value = 64;
  std::int64_t list_max_pack_size = -2;
  std::int64_t hyper_log_log_max_sparse_bytes = 3000;
  std::int64_t stream_max_block_bytes = 4096;
  std::int64_t stream_max_block_entries = 100;
  std::int64_t slow_log_us = 10'000;
  std::int64_t busy_threshold_ms = 5000;  ///< after which a script is interrupted; 0: never
  std::int64_t slow_log_length = 128;
  std::int64_t latency_threshold_ms = 0;
  std::int64_t tracking_max_keys = 1'000'000;
  std::int64_t max_bulk = 512 << 20;
  std::int64_t max_query_buffer = 1 << 30;
  std::int64_t idle_timeout_s = 0;
  std::int64_t tcp_keepalive_s = 300;
  std::int64_t hz = 10;
  std::int64_t backlog_size = 1 << 20;
  std::int64_t replication_timeout_s = 60;
  std::int64_t replication_ping_s = 10;
  std::int64_t min_followers = 0;  ///< with fewer followers, changes are refused
  std::int64_t max_follower_lag_s = 10;
  std::int64_t follower_priority = 100;
  std::string announced_address;  ///< as a follower; empty: the address that its leader sees
  std::int64_t announced_port = 0;
  bool is_announced = true;  ///< as a follower, to the sentinels
  std::int64_t rewrite_percentage = 100;
  std::int64_t rewrite_min_size = 64 << 20;
  bool stop_writes_on_save_error = true;
  bool serves_stale_data = true;  ///< as a follower without a connection to its leader
  output_limits output_buffer_limits;
  std::int64_t acl_log_length = 128;
  std::string new_user_channels = "resetchannels";
  bool latency_tracking = false;
  bool lazy_delete = false;
  bool lazy_flush = false;
  idle_parameters idle;
  /// Why changed options are not in the cache's record; empty if they are.
  std::string record_trouble;

  /// Returns name and value of each parameter that `pattern` matches.
  [[nodiscard]] std::vector<std::pair<std::string_view, std::string>> find(
      std::string_view pattern) const;
  /// Returns the changed parameters that are no options of their own, as the option `config` has
  /// them.
  [[nodiscard]] std::vector<std::string> changed_settings() const;
  /// Reports whether the cache knows what Redis has since version `since`: see version.hpp.
  [[nodiscard]] bool knows(unsigned since) const { return since <= version.newest; }
  /// Updates everything that is derived from the options.
  void heed_options();
  /// Errors: the reason is Redis's text after "ERR ".
  [[nodiscard]] result<void> set(std::string_view name, std::string_view value);
  /// Sets the parameters in the option `config`. Errors: invalid_argument, naming the first wrong
  /// one; it is an option of its own.
  [[nodiscard]] result<void> take_config();
};

}  // namespace strata::runtime::cache
