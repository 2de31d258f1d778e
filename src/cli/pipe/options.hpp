// The options of `strata pipe`. The table in options.cpp gives each member its flag and its help.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options/option_table.hpp"
#include "runtime/options/tls_options.hpp"

namespace strata::cli {

struct pipe_options : runtime::tls_client_options, runtime::tls_server_options {
  bool fork = false;
  bool one_way = false;
  std::string framing = "line";
  double linger = 0.5;
  double connect_timeout = 10;
  std::uint64_t max_message = 1U << 20U;
  std::uint64_t max_buffer = 256U << 10U;
  std::uint64_t max_connections = 1000;
  std::vector<std::string> header;
  std::vector<std::string> ws_protocol;
  std::vector<std::string> ws_origin;
  double ws_ping = 60;
  std::string loop = "auto";
};

[[nodiscard]] const std::vector<options::bound_row<pipe_options>>& pipe_option_table();

}  // namespace strata::cli
