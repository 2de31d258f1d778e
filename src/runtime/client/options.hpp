// The options of a client. The table in options.cpp gives each member its flag and its help.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/options/runtime_options.hpp"
#include "runtime/options/script_options.hpp"
#include "runtime/options/tls_options.hpp"

namespace strata::runtime::client {

struct client_options : runtime_options, tls_client_options, script_options {
  std::string target;
  std::string connect;
  std::string framing = "line";
  std::string mode = "inout";
  std::optional<std::uint64_t> reconnect;
  double reconnect_min = 1;
  double reconnect_max = 30;
  std::uint64_t reconnect_seed = 0;
  double connect_timeout = 10;
  std::uint64_t queue = 0;
  std::uint64_t global_rate_limit = 0;
  std::uint64_t max_message = 1U << 20U;
  std::uint64_t max_buffer = 4U << 20U;
  std::string write;
  std::vector<std::string> header;
  std::vector<std::string> ws_protocol;
  std::string ws_deflate = "on";
  double ws_ping = 60;

  /// `connect`, or `target` as an endpoint URL.
  [[nodiscard]] std::string endpoint() const;
  [[nodiscard]] std::vector<std::string> endpoints() const { return {endpoint()}; }
};

[[nodiscard]] const std::vector<options::bound_row<client_options>>& option_table();
[[nodiscard]] const std::vector<options::option_row>& option_rows();

}  // namespace strata::runtime::client
