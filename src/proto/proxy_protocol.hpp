// The PROXY protocol, versions 1 and 2: the header that a proxy sends at the beginning of a
// connection to name its client (haproxy.org, proxy-protocol.txt).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"

namespace strata::proto {

/// A numeric IPv4 or IPv6 address, and a TCP port.
struct proxied_end {
  std::string host;
  std::uint16_t port = 0;

  bool operator==(const proxied_end&) const = default;
};

struct proxied_ends {
  proxied_end client;
  proxied_end server;  ///< the address to which the client connected; of the same family

  bool operator==(const proxied_ends&) const = default;
};

struct proxy_header {
  /// Null if the proxy opened the connection for itself, or for a client without an IP address.
  std::optional<proxied_ends> of;
  std::size_t size = 0;  ///< bytes of the header; the client's bytes follow
};

/// Parses the header in `seen`, a connection's first bytes. Returns nullopt if the header is
/// incomplete. Ignores version 2's additional data. Errors: malformed if `seen` does not begin with
/// a valid header, with the offset of the fault; limit_exceeded for a header above 4 KiB.
[[nodiscard]] result<std::optional<proxy_header>> read_proxy_header(std::string_view seen);

/// Returns a header of `version` 1 or 2. `ends` is null if the proxy opens the connection for
/// itself.
[[nodiscard]] std::string write_proxy_header(int version, const std::optional<proxied_ends>& ends);

}  // namespace strata::proto
