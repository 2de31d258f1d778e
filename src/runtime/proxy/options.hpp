// What a proxy can be told. The table in options.cpp gives each member its flag and its help.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/options.hpp"
#include "runtime/tls_options.hpp"

namespace strata::runtime::proxy {

struct proxy_options : common_options, tls_server_options, tls_client_options {
  std::optional<std::uint64_t> port;
  bool local = false;
  std::vector<std::string> listen;
  std::vector<std::string> backend;
  std::string balance = "round-robin";
  std::uint64_t threads = 1;
  std::uint64_t max_connections = 0;
  std::uint64_t max_buffer = 256U << 10U;
  double connect_timeout = 5;
  double idle_timeout = 0;
  double rest = 5;

  /// `port` and `listen` as endpoint URLs.
  [[nodiscard]] std::vector<std::string> endpoints() const;
};

[[nodiscard]] const std::vector<options::bound_row<proxy_options>>& option_table();
[[nodiscard]] const std::vector<options::option_row>& option_rows();

}  // namespace strata::runtime::proxy
