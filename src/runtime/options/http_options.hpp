// The limits of HTTP connections that runtimes serve.
#pragma once

#include <cstdint>
#include <vector>

#include "options/option_table.hpp"

namespace strata::runtime {

struct http_limit_options {
  std::uint64_t http_max_head = 16U << 10U;
  double http_head_timeout = 10;
  double http_body_timeout = 30;
  double http_idle_timeout = 75;
  std::uint64_t http2_max_streams = 100;
};

// What a connection begins with is right for it until it ends.
// One option per row of two or three lines.
// clang-format off
template <class Options>
[[nodiscard]] std::vector<options::bound_row<Options>> http_limit_rows() {
  using enum options::option_kind;
  return {
      {{.key = "http_max_head", .kind = bytes, .value_name = "SIZE", .default_text = "16KiB",
        .help = "longest head of a request; a longer one is answered with 431", .max = 1U << 20U,
        .min = 256,
        .only_on = "HTTP"},
       &Options::http_max_head},
      {{.key = "http_head_timeout", .kind = seconds, .value_name = "TIME", .default_text = "10",
        .help = "longest time from the first to the last byte of a request's head; 0 means no "
                "limit",
        .only_on = "HTTP"},
       &Options::http_head_timeout},
      {{.key = "http_body_timeout", .kind = seconds, .value_name = "TIME", .default_text = "30",
        .help = "longest silence within a request's body; 0 means no limit",
        .only_on = "HTTP"},
       &Options::http_body_timeout},
      {{.key = "http_idle_timeout", .kind = seconds, .value_name = "TIME", .default_text = "75",
        .help = "close an HTTP connection that carries no request for TIME; 0 means never",
        .only_on = "HTTP"},
       &Options::http_idle_timeout},
      {{.key = "http2_max_streams", .kind = count, .value_name = "N", .default_text = "100",
        .help = "concurrent requests and WebSockets on one HTTP/2 connection", .max = 10'000,
        .min = 1,
        .only_on = "HTTP"},
       &Options::http2_max_streams},
  };
}
// clang-format on

}  // namespace strata::runtime
