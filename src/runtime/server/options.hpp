// The options of a server. The table in options.cpp gives each member its flag and its help.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/endpoint_url.hpp"
#include "runtime/options/runtime_options.hpp"
#include "runtime/options/script_options.hpp"
#include "runtime/options/tls_options.hpp"
#include "runtime/server/web_options.hpp"

namespace strata::runtime::server {

struct server_options : runtime_options, web_options, tls_server_options, script_options {
  std::optional<std::uint64_t> port;
  bool local = false;
  std::vector<std::string> listen;
  std::vector<std::string> proxy_protocol;
  std::string framing = "line";
  std::string mode = "inout";
  std::string master_pw;
  bool master_forward = false;
  std::uint64_t max_connections = 0;
  std::uint64_t max_memory_connections = 1U << 30U;
  std::uint64_t max_peers = 10000;
  std::uint64_t rate_limit = 0;
  std::uint64_t global_rate_limit = 0;
  double idle_timeout = 0;
  double peer_timeout = 60;
  std::string udp_join;
  std::uint64_t udp_allowance = 64U << 10U;
  std::uint64_t receive_buffer = 0;
  std::uint64_t send_buffer = 0;
  std::uint64_t max_message = 1U << 20U;
  std::uint64_t max_buffer = 4U << 20U;
  std::string slow_client = "disconnect";
  bool drain = false;
  double drain_timeout = 5;
  std::uint64_t threads = 1;
  std::string write;
  std::vector<std::string> upstream;
  std::string cache;  ///< name of a cache; empty: none

  /// `port` and `listen` as endpoint URLs.
  [[nodiscard]] std::vector<std::string> endpoints() const;
  /// `upstream` as URLs. Errors: as of parse_connecting, and for URLs that carry no messages.
  [[nodiscard]] result<std::vector<net::endpoint_url>> upstreams() const;
};

[[nodiscard]] const std::vector<options::bound_row<server_options>>& option_table();
[[nodiscard]] const std::vector<options::option_row>& option_rows();

}  // namespace strata::runtime::server
