// The options of a proxy. The table in options.cpp gives each member its flag and its help.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/options/http_options.hpp"
#include "runtime/options/runtime_options.hpp"
#include "runtime/options/script_options.hpp"
#include "runtime/options/tls_options.hpp"

namespace strata::runtime::proxy {

struct proxy_options : runtime_options,
                       tls_server_options,
                       tls_client_options,
                       http_limit_options,
                       script_options {
  std::optional<std::uint64_t> port;
  bool local = false;
  std::vector<std::string> listen;
  std::vector<std::string> proxy_protocol;
  std::vector<std::string> backend;
  std::string balance = "round-robin";
  std::uint64_t threads = 1;
  std::uint64_t max_connections = 0;
  std::uint64_t max_buffer = 256U << 10U;
  double connect_timeout = 5;
  double idle_timeout = 0;
  bool drain = false;
  double drain_timeout = 5;
  double rest = 5;
  std::uint64_t circuit_failures = 5;
  std::uint64_t circuit_share = 50;
  std::uint64_t panic = 0;
  std::string sticky;
  double slow_start = 0;
  std::uint64_t queue = 1024;
  double queue_timeout = 5;
  std::string check = "off";
  double check_interval = 2;
  std::uint64_t check_fall = 3;
  std::uint64_t check_rise = 2;
  std::string check_path = "/";
  std::string check_status = "2xx,3xx";
  std::string protocol = "raw";
  std::string framing = "line";
  std::uint64_t max_message = 1U << 20U;
  std::uint64_t retries = 2;
  double answer_timeout = 60;
  std::uint64_t max_idle = 64;
  double idle_backend_timeout = 30;
  std::vector<std::string> trust;
  std::vector<std::string> route;
  std::vector<std::string> request_header;
  std::vector<std::string> answer_header;
  bool forwarded = false;
  bool request_id = false;
  bool traceparent = false;
  std::vector<std::string> allow;
  std::vector<std::string> deny;
  std::uint64_t rate_per_client = 0;
  std::string error_pages;
  std::string access_log;
  std::string access_format = "combined";

  /// `port` and `listen` as endpoint URLs.
  [[nodiscard]] std::vector<std::string> endpoints() const;
};

[[nodiscard]] const std::vector<options::bound_row<proxy_options>>& option_table();
[[nodiscard]] const std::vector<options::option_row>& option_rows();
[[nodiscard]] std::span<const options::flag_set> flag_sets();

}  // namespace strata::runtime::proxy
