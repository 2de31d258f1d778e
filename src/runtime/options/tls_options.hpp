// The TLS options of runtimes that listen, and of those that connect.
#pragma once

#include <string>
#include <vector>

#include "options/option_table.hpp"

namespace strata::runtime {

struct tls_server_options {
  std::vector<std::string> cert;
  std::vector<std::string> key;
  std::string client_ca;
  std::string tls_min = "1.2";
  double handshake_timeout = 10;
};

struct tls_client_options {
  std::string ca;
  std::string servername;
  std::string client_cert;
  std::string client_key;
  bool insecure = false;
};

// One option per row of two or three lines.
// clang-format off
template <class Options>
[[nodiscard]] std::vector<options::bound_row<Options>> tls_server_rows() {
  using enum options::option_kind;
  return {
      {{.key = "cert", .kind = list, .value_name = "FILE",
        .help = "certificate for TLS, in PEM, followed by its chain; repeatable: the name that a "
                "client requests (SNI) selects one",
        .needs_restart = true, .reach = options::option_reach::read_path,
        .only_on = "TLS"},
       &Options::cert},
      {{.key = "key", .kind = list, .value_name = "FILE",
        .help = "private key of the --cert in the same position; repeatable",
        .needs_restart = true, .reach = options::option_reach::read_path,
        .only_on = "TLS"},
       &Options::key},
      {{.key = "client_ca", .kind = text, .value_name = "FILE",
        .help = "require clients to show a certificate of an authority in FILE",
        .needs_restart = true,
        .reach = options::option_reach::read_path,
        .only_on = "TLS"},
       &Options::client_ca},
      {{.key = "tls_min", .kind = choice, .value_name = "VERSION", .default_text = "1.2",
        .help = "oldest accepted version of TLS", .needs_restart = true,
        .choices = "1.2|1.3",
        .only_on = "TLS"},
       &Options::tls_min},
      {{.key = "handshake_timeout", .kind = seconds, .value_name = "TIME", .default_text = "10",
        .help = "longest time for a client's TLS handshake and for its PROXY header",
        .only_on = "TLS|PROXY headers"},
       &Options::handshake_timeout},
  };
}

/// `effective`: its `only_with` and `only_on` say when the options have an effect.
template <class Options>
[[nodiscard]] std::vector<options::bound_row<Options>> tls_client_rows(
    const options::option_row& effective) {
  using enum options::option_kind;
  std::vector<options::bound_row<Options>> rows{
      {{.key = "ca", .kind = text, .value_name = "FILE",
        .help = "trust only the authorities in FILE, instead of those of the system",
        .needs_restart = true, .reach = options::option_reach::read_path},
       &Options::ca},
      {{.key = "servername", .kind = text, .value_name = "NAME",
        .help = "name expected in the server's certificate, instead of the host in the URL",
        .needs_restart = true},
       &Options::servername},
      {{.key = "client_cert", .kind = text, .value_name = "FILE",
        .help = "certificate to show to servers that request one, in PEM", .needs_restart = true,
        .reach = options::option_reach::read_path},
       &Options::client_cert},
      {{.key = "client_key", .kind = text, .value_name = "FILE",
        .help = "private key of --client-cert", .needs_restart = true,
        .reach = options::option_reach::read_path},
       &Options::client_key},
      {{.key = "insecure", .kind = flag,
        .help = "accept any certificate; the server's identity is not verified",
        .needs_restart = true},
       &Options::insecure},
  };
  for (auto& each : rows) {
    each.row.only_with = effective.only_with;
    each.row.only_on = effective.only_on;
  }
  return rows;
}
// clang-format on

}  // namespace strata::runtime
