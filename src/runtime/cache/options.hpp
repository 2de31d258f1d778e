// The options of a cache. The table in options.cpp gives each member its flag and its help.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/options/runtime_options.hpp"
#include "runtime/options/script_options.hpp"
#include "runtime/options/tls_options.hpp"

namespace strata::runtime::cache {

struct cache_options : runtime_options, tls_server_options, tls_client_options, script_options {
  std::optional<std::uint64_t> port;
  bool local = false;
  std::string protected_mode = "yes";
  std::vector<std::string> listen;
  std::vector<std::string> proxy_protocol;
  bool resp = false;
  std::string password;
  std::vector<std::string> user;
  std::string acl_file;
  std::uint64_t max_memory = 0;
  std::string eviction = "noeviction";
  std::string access = "admin";
  std::string redis_version = "all";
  std::vector<std::string> config;  ///< parameters that are no options, as NAME=VALUE
  std::uint64_t threads = 1;
  std::uint64_t max_connections = 0;
  std::uint64_t max_memory_connections = 1U << 30U;
  std::string follow;
  std::string follow_user;
  std::string follow_password;
  std::string persistent;
  std::string appendfsync = "everysec";
  std::string snapshot;
  std::string save;
  double drain_timeout = 30;
  std::uint64_t rate_limit = 0;
  std::uint64_t global_rate_limit = 0;

  /// Returns `port` and `listen` as endpoint URLs.
  [[nodiscard]] std::vector<std::string> endpoints() const;
  /// Reports whether clients of other machines are accepted: because they must authenticate, or
  /// because all are welcome.
  [[nodiscard]] bool serves_strangers() const;
};

[[nodiscard]] const std::vector<options::bound_row<cache_options>>& option_table();
[[nodiscard]] const std::vector<options::option_row>& option_rows();
/// Returns the options whose value in `destination` differs, with that value, as a JSON object.
[[nodiscard]] nlohmann::json changed_options(const cache_options& options,
                                             const cache_options& destination);

}  // namespace strata::runtime::cache
