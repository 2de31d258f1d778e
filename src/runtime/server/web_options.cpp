#include "runtime/server/web_options.hpp"

namespace strata::runtime::server {

namespace {

using enum options::option_kind;
using web_row = options::bound_row<web_options>;

// One option per row of two or three lines.
// clang-format off
std::vector<web_row> speech_rows() {
  return {
      {{.key = "protocol", .kind = choice, .value_name = "WHAT", .default_text = "auto",
        .help = "protocol on a stream: auto: detected from the first bytes, raw: only messages, "
                "http: only HTTP",
        .needs_restart = true, .choices = "auto|raw|http",
        .only_on = "streams"},
       &web_options::protocol},
      {{.key = "detect_timeout", .kind = seconds, .value_name = "TIME", .default_text = "0.2",
        .help = "with detection: a client that is silent for TIME is taken to send messages",
        .only_with = "protocol=auto", .only_on = "streams"},
       &web_options::detect_timeout},
      {{.key = "http_messages", .kind = flag,
        .help = "POST / sends a message; GET / streams them, if it accepts text/event-stream",
        .only_on = "HTTP"},
       &web_options::http_messages},
      {{.key = "ws_ping", .kind = seconds, .value_name = "TIME", .default_text = "60",
        .help = "ping a WebSocket that is silent for TIME, and end it if no answer comes; 0 means "
                "never",
        .only_on = "HTTP"},
       &web_options::ws_ping},
      {{.key = "ws_deflate", .kind = choice, .value_name = "on|off", .default_text = "on",
        .help = "compress WebSocket messages if the client offers it", .choices = "on|off",
        .only_on = "HTTP"},
       &web_options::ws_deflate},
      {{.key = "ws_protocol", .kind = list, .value_name = "NAME",
        .help = "WebSocket subprotocol to accept; repeatable",
        .only_on = "HTTP"},
       &web_options::ws_protocol},
      {{.key = "ws_origin", .kind = list, .value_name = "ORIGIN",
        .help = "also accept WebSockets from pages of ORIGIN, such as https://example.com; * "
                "accepts all; repeatable",
        .only_on = "HTTP"},
       &web_options::ws_origin},
  };
}

std::vector<web_row> file_rows() {
  return {
      {{.key = "http", .kind = text, .value_name = "DIR",
        .help = "serve the files in DIR and its subfolders", .needs_restart = true,
        .reach = options::option_reach::read_path,
        .only_on = "HTTP"},
       &web_options::http},
      {{.key = "http_listing", .kind = flag,
        .help = "list the contents of folders that have no index.html", .needs_restart = true,
        .only_with = "http"},
       &web_options::http_listing},
      {{.key = "http_fallback", .kind = text, .value_name = "FILE",
        .help = "page in DIR to answer with when a path does not exist and the client accepts "
                "text/html",
        .needs_restart = true,
        .only_with = "http"},
       &web_options::http_fallback},
      {{.key = "http_inject", .kind = flag,
        .help = "insert a script into HTML pages that sets window.strata to a WebSocket to this "
                "server",
        .needs_restart = true,
        .only_with = "http"},
       &web_options::http_inject},
      {{.key = "http_cache", .kind = flag,
        .help = "keep files up to 1 MiB in memory until they change",
        .needs_restart = true,
        .only_with = "http"},
       &web_options::http_cache},
      {{.key = "http_cache_size", .kind = bytes, .value_name = "SIZE", .default_text = "64MiB",
        .help = "memory per loop for cached files and for compressed files",
        .needs_restart = true, .max = 1ULL << 40U,
        .only_with = "http"},
       &web_options::http_cache_size},
      {{.key = "http_header", .kind = list, .value_name = "FIELD",
        .help = "add the header field 'Name: value' to all answers; repeatable",
        .needs_restart = true,
        .only_on = "HTTP"},
       &web_options::http_header},
      {{.key = "cors", .kind = list, .value_name = "ORIGIN",
        .help = "allow pages of ORIGIN to read answers (CORS), such as https://example.com; * "
                "allows all; repeatable", .needs_restart = true,
        .only_on = "HTTP"},
       &web_options::cors},
      {{.key = "http_log", .kind = text, .value_name = "FILE",
        .help = "append a line to FILE for each request", .needs_restart = true,
        .reach = options::option_reach::written_path,
        .only_on = "HTTP"},
       &web_options::http_log},
      {{.key = "http_log_format", .kind = choice, .value_name = "FORMAT",
        .default_text = "combined",
        .help = "format of a line in the access log",
        .needs_restart = true,
        .choices = "combined|json",
        .only_with = "http_log"},
       &web_options::http_log_format},
  };
}

std::vector<web_row> body_rows() {
  return {
      {{.key = "http_max_body", .kind = bytes, .value_name = "SIZE", .default_text = "1MiB",
        .help = "longest request body that is read and discarded if nothing uses it; max-message "
                "limits the body of a message",
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
