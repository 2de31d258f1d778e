#include "runtime/server/web_options.hpp"

namespace strata::runtime::server {

namespace {

using enum options::option_kind;
using web_row = options::bound_row<web_options>;

// A row is read as a row: one option, two or three lines.
// clang-format off
std::vector<web_row> speech_rows() {
  return {
      {{.key = "protocol", .kind = choice, .value_name = "WHAT", .default_text = "auto",
        .help = "what is spoken on a stream: as its first bytes say, messages alone, or HTTP alone",
        .needs_restart = true, .choices = "auto|raw|http",
        .only_on = "streams"},
       &web_options::protocol},
      {{.key = "detect_timeout", .kind = seconds, .value_name = "TIME", .default_text = "0.2",
        .help = "how long a client may say nothing before it is taken to send messages",
        .only_with = "protocol=auto", .only_on = "streams"},
       &web_options::detect_timeout},
      {{.key = "http_messages", .kind = flag,
        .help = "POST / sends a message; GET / streams them, if it accepts text/event-stream",
        .only_on = "HTTP"},
       &web_options::http_messages},
      {{.key = "ws_ping", .kind = seconds, .value_name = "TIME", .default_text = "60",
        .help = "ping a WebSocket that is silent for TIME, and end it if it stays so; 0 is never",
        .only_on = "HTTP"},
       &web_options::ws_ping},
      {{.key = "ws_deflate", .kind = choice, .value_name = "on|off", .default_text = "on",
        .help = "compress a WebSocket's messages if the client offers it", .choices = "on|off",
        .only_on = "HTTP"},
       &web_options::ws_deflate},
      {{.key = "ws_protocol", .kind = list, .value_name = "NAME",
        .help = "a subprotocol that WebSockets may choose; repeatable",
        .only_on = "HTTP"},
       &web_options::ws_protocol},
      {{.key = "ws_origin", .kind = list, .value_name = "ORIGIN",
        .help = "also let pages of ORIGIN open WebSockets, as https://example.com, or * for all; "
                "repeatable",
        .only_on = "HTTP"},
       &web_options::ws_origin},
  };
}

std::vector<web_row> file_rows() {
  return {
      {{.key = "http", .kind = text, .value_name = "DIR",
        .help = "serve the files below DIR", .needs_restart = true,
        .reach = options::option_reach::read_path,
        .only_on = "HTTP"},
       &web_options::http},
      {{.key = "http_listing", .kind = flag,
        .help = "show what is in a folder that has no index.html", .needs_restart = true,
        .only_with = "http"},
       &web_options::http_listing},
      {{.key = "http_fallback", .kind = text, .value_name = "FILE",
        .help = "a page below DIR for what is not there, for a client that accepts text/html",
        .needs_restart = true,
        .only_with = "http"},
       &web_options::http_fallback},
      {{.key = "http_inject", .kind = flag,
        .help = "put a script into HTML pages: window.strata is a WebSocket to this server",
        .needs_restart = true,
        .only_with = "http"},
       &web_options::http_inject},
      {{.key = "http_cache", .kind = flag,
        .help = "keep files up to 1 MiB in memory until they change",
        .needs_restart = true,
        .only_with = "http"},
       &web_options::http_cache},
      {{.key = "http_cache_size", .kind = bytes, .value_name = "SIZE", .default_text = "64MiB",
        .help = "most memory, on each loop, for files kept and for files compressed",
        .needs_restart = true, .max = 1ULL << 40U,
        .only_with = "http"},
       &web_options::http_cache_size},
      {{.key = "http_header", .kind = list, .value_name = "FIELD",
        .help = "a header field 'Name: value' for all answers; repeatable", .needs_restart = true,
        .only_on = "HTTP"},
       &web_options::http_header},
      {{.key = "cors", .kind = list, .value_name = "ORIGIN",
        .help = "let pages of ORIGIN read answers, as https://example.com, or * for all; "
                "repeatable", .needs_restart = true,
        .only_on = "HTTP"},
       &web_options::cors},
      {{.key = "http_log", .kind = text, .value_name = "FILE",
        .help = "append a line to FILE for each request", .needs_restart = true,
        .reach = options::option_reach::written_path,
        .only_on = "HTTP"},
       &web_options::http_log},
      {{.key = "http_log_format", .kind = choice, .value_name = "FORMAT",
        .default_text = "combined", .help = "how that line is written", .needs_restart = true,
        .choices = "combined|json",
        .only_with = "http_log"},
       &web_options::http_log_format},
  };
}

std::vector<web_row> body_rows() {
  return {
      {{.key = "http_max_body", .kind = bytes, .value_name = "SIZE", .default_text = "1MiB",
        .help = "most of a request's body that is passed over where nothing reads it; a message's "
                "is bounded by max-message",
        .max = 1ULL << 32U,
        .only_on = "HTTP"},
       &web_options::http_max_body},
  };
}
// clang-format on

}  // namespace

std::vector<options::bound_row<web_options>> web_rows() {
  auto all = speech_rows();
  for (auto&& more : {file_rows(), body_rows(), http_limit_rows<web_options>()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace strata::runtime::server
