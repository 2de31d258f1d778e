// Inspects the certificates of a server or a file, and whether they would be trusted: for display.
// These calls block.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "net/tls/certificate.hpp"

namespace strata::net {

struct inspection {
  std::vector<certificate_info> chain;  ///< the server's own certificate first
  std::string trouble;                  ///< why it is not trusted; empty if it is
  std::string protocol;                 ///< empty for a file
  std::string cipher;
};

struct inspection_order {
  std::string ca;    ///< a file of authorities; empty: the system's
  std::string name;  ///< the name that it must be valid for; empty: any
};

/// Errors: those of the file.
[[nodiscard]] result<inspection> inspect_file(const std::string& file,
                                              const inspection_order& order);
/// Connects to `host` as a TLS client does, and ends the connection. Errors: those of the network,
/// and of handshakes that fail for another reason than trust.
[[nodiscard]] result<inspection> inspect_server(const std::string& host, std::uint16_t port,
                                                const inspection_order& order,
                                                std::chrono::seconds limit);

}  // namespace strata::net
