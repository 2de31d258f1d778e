// The HTTP options of a server. The table in web_options.cpp gives each member its flag.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options/option_table.hpp"
#include "runtime/options/http_options.hpp"

namespace strata::runtime::server {

struct web_options : http_limit_options {
  std::string protocol = "auto";
  double detect_timeout = 0.2;
  bool http_messages = false;
  double ws_ping = 60;
  std::string ws_deflate = "on";
  std::vector<std::string> ws_protocol;
  std::vector<std::string> ws_origin;
  std::string http;
  bool http_listing = false;
  std::string http_fallback;
  bool http_inject = false;
  bool http_cache = false;
  std::uint64_t http_cache_size = 64U << 20U;
  std::vector<std::string> http_header;
  std::vector<std::string> cors;
  std::string http_log;
  std::string http_log_format = "combined";
  std::uint64_t http_max_body = 1U << 20U;
};

[[nodiscard]] std::vector<options::bound_row<web_options>> web_rows();

}  // namespace strata::runtime::server
