#include "runtime/figures.hpp"

namespace strata::runtime {

using enum options::figure_kind;
using enum options::figure_unit;

// One figure per row of two or three lines.
// clang-format off
const std::vector<options::bound_figure<statistics>>& common_figures() {
  static const std::vector<options::bound_figure<statistics>> table = {
      {{.key = "connections.now", .kind = gauge, .help = "connections now",
        .metric = "strata_connections", .column = "connections"},
       &statistics::connections_now},
      {{.key = "connections.peak", .kind = peak, .help = "most connections at the same time",
        .column = "peak", .is_hidden = true},
       &statistics::connections_peak},
      {{.key = "connections.total", .help = "connections since the start",
        .metric = "strata_connections_total", .column = "total", .is_hidden = true},
       &statistics::connections_total},
      {{.key = "connections.refused", .help = "connections refused",
        .metric = "strata_connections_refused_total", .column = "refused", .is_hidden = true},
       &statistics::connections_refused},
      {{.key = "connections.memory", .kind = gauge, .unit = bytes,
        .help = "memory for unfinished input and waiting output of all connections",
        .metric = "strata_connections_memory_bytes", .column = "held", .is_hidden = true},
       &statistics::connections_memory},
      {{.key = "tls.handshakes_failed", .help = "clients whose TLS handshake failed",
        .metric = "strata_tls_handshakes_failed_total", .column = "handshakes_failed",
        .is_hidden = true},
       &statistics::handshakes_failed},
      {{.key = "http2.floods", .help = "connections ended because the client flooded HTTP/2",
        .metric = "strata_http2_floods_total", .column = "http2_floods", .is_hidden = true},
       &statistics::http2_floods},
      {{.key = "messages.in", .help = "messages received",
        .metric = "strata_messages_in_total", .column = "messages_in"},
       &statistics::messages_in},
      {{.key = "messages.out", .help = "messages handed to connections",
        .metric = "strata_messages_out_total", .column = "messages_out"},
       &statistics::messages_out},
      {{.key = "rates.in_1s", .kind = rate, .help = "messages received in the last second",
        .column = "rate_in"},
       &statistics::in_1s},
      {{.key = "rates.in_1m", .kind = rate,
        .help = "messages received per second, over the last minute", .span_s = 60},
       &statistics::in_1m},
      {{.key = "rates.out_1s", .kind = rate,
        .help = "messages handed to connections in the last second", .column = "rate_out"},
       &statistics::out_1s},
      {{.key = "rates.out_1m", .kind = rate,
        .help = "messages handed to connections per second, over the last minute", .span_s = 60},
       &statistics::out_1m},
      {{.key = "bytes.in", .unit = bytes, .help = "bytes received; for HTTP, only bodies",
        .metric = "strata_bytes_in_total", .column = "bytes_in"},
       &statistics::bytes_in},
      {{.key = "bytes.out", .unit = bytes, .help = "bytes sent; for HTTP, only proxied bodies",
        .metric = "strata_bytes_out_total", .column = "bytes_out"},
       &statistics::bytes_out},
      {{.key = "dropped", .help = "messages dropped, by reason",
        .metric = "strata_dropped_total", .column = "dropped", .label = "reason",
        .cases = drop_names},
       &statistics::dropped},
      {{.key = "refused", .help = "clients, requests and passwords refused, by reason",
        .metric = "strata_refused_total", .column = "refusals", .is_hidden = true,
        .label = "reason", .cases = refusal_names},
       &statistics::refused},
      {{.key = "errors", .help = "errors", .metric = "strata_errors_total", .column = "errors"},
       &statistics::errors},
      {{.key = "loop.lag_us", .kind = gauge, .unit = microseconds,
        .help = "duration of the loop's last turn",
        .metric = "strata_loop_lag_microseconds", .column = "lag", .is_hidden = true},
       &statistics::lag_us},
      {{.key = "loop.lag_max_us", .kind = gauge, .unit = microseconds,
        .help = "duration of the loop's longest turn", .column = "lag_max",
        .is_hidden = true},
       &statistics::lag_max_us},
  };
  return table;
}
// clang-format on

const std::vector<options::figure_row>& common_figure_rows() {
  static const auto rows = rows_of(common_figures());
  return rows;
}

statistics statistics::past() const { return past_figures(*this, common_figures()); }

void statistics::add(const counters& part, std::uint64_t now_s) {
  add_figures<statistics>(*this, part, common_figures());
  in_1s.add(part.rate_in.total(now_s, 1));
  in_1m.add(part.rate_in.total(now_s, 60));
  out_1s.add(part.rate_out.total(now_s, 1));
  out_1m.add(part.rate_out.total(now_s, 60));
}

}  // namespace strata::runtime
