// The options for where a runtime listens.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options/option_table.hpp"

namespace strata::runtime {

/// Returns `-p PORT`, which means every address, or with `--local` only this machine's own, and
/// `--listen URL …` as one list of endpoint URLs. With a certificate, PORT accepts TLS only.
[[nodiscard]] inline std::vector<std::string> listen_urls(const std::optional<std::uint64_t>& port,
                                                          bool is_local, bool is_secure,
                                                          const std::vector<std::string>& listen) {
  std::vector<std::string> urls;
  const std::string scheme = is_secure ? "tls://" : "tcp://";
  const std::string host = is_local ? "127.0.0.1" : "*";
  if (port) urls.push_back(scheme + host + ":" + std::to_string(*port));
  urls.insert(urls.end(), listen.begin(), listen.end());
  return urls;
}

// One option per row of two or three lines.
// clang-format off
/// `listen_help` names the URLs that the type listens on; it outlives the rows.
template <class Options>
[[nodiscard]] std::vector<options::bound_row<Options>> listen_rows(std::string_view listen_help) {
  using enum options::option_kind;
  return {
      {{.key = "port", .short_flag = 'p', .kind = port, .value_name = "PORT",
        .help = "listen on tcp://*:PORT (all addresses), or with --cert on tls://*:PORT; 0 chooses "
                "a free port",
        .needs_restart = true},
       &Options::port},
      {{.key = "local", .kind = flag,
        .help = "listen on 127.0.0.1 only, not reachable from other machines",
        .needs_restart = true,
        .only_with = "port"},
       &Options::local},
      {{.key = "listen", .short_flag = 'l', .kind = list, .value_name = "URL",
        .help = listen_help, .needs_restart = true,
        .reach = options::option_reach::listening},
       &Options::listen},
      {{.key = "proxy_protocol", .kind = list, .value_name = "NETWORK",
        .help = "expect a PROXY header (version 1 or 2), which names the real client, on "
                "connections from NETWORK, such as 10.0.0.0/8, or 'unix'; connections without one "
                "are closed; repeatable",
        .needs_restart = true, .only_on = "streams"},
       &Options::proxy_protocol},
  };
}

/// For runtimes that work on several loops.
template <class Options>
[[nodiscard]] options::bound_row<Options> threads_row(
    std::string_view help = "event loops that share the work") {
  using enum options::option_kind;
  return {{.key = "threads", .kind = count, .value_name = "N", .default_text = "1",
           .help = help, .needs_restart = true, .max = 64, .min = 1},
          &Options::threads};
}
// clang-format on

/// The endpoints of types that serve streams only.
inline constexpr std::string_view streams_help =
    "listen on tcp://HOST:PORT, tls://HOST:PORT or unix:///PATH; repeatable";

}  // namespace strata::runtime
