// What a server shows, or a file holds, and whether it would be trusted: for people who look.
// These calls block.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "net/tls/certificate.hpp"

namespace strata::net {

struct inspection {
  std::vector<certificate_info> chain;  ///< the server's own first
  std::string trouble;                  ///< why it is not trusted; empty: it is
  std::string protocol;                 ///< empty of a file
  std::string cipher;
};

struct inspection_order {
  std::string ca;    ///< a file of authorities; empty: the system's
  std::string name;  ///< that it is to be good for; empty: any
};

/// Errors: of the file.
[[nodiscard]] result<inspection> inspect_file(const std::string& file,
                                              const inspection_order& order);
/// Connects to `host` as a client of TLS does, and ends the connection. Errors: of the network, and
/// of handshakes that fail for another reason than trust.
[[nodiscard]] result<inspection> inspect_server(const std::string& host, std::uint16_t port,
                                                const inspection_order& order,
                                                std::chrono::seconds limit);

}  // namespace strata::net
