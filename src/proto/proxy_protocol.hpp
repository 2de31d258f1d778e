// The PROXY protocol, versions 1 and 2: what a proxy says before a connection's first byte of the
// client that it speaks for (haproxy.org, proxy-protocol.txt).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"

namespace strata::proto {

/// A numeric IPv4 or IPv6 address, and a port of TCP.
struct proxied_end {
  std::string host;
  std::uint16_t port = 0;

  bool operator==(const proxied_end&) const = default;
};

struct proxied_ends {
  proxied_end client;
  proxied_end server;  ///< where the client has connected to; of the same family

  bool operator==(const proxied_ends&) const = default;
};

struct proxy_header {
  /// Null: the proxy speaks for itself, or for what has no IP address.
  std::optional<proxied_ends> of;
  std::size_t size = 0;  ///< bytes of the header: what follows is the client's
};

/// `seen`: a connection's first bytes. Nullopt: the header is not whole yet. What version 2 tells
/// beside the addresses is passed over. Errors: malformed, for what begins no such header, with the
/// byte; limit_exceeded for one of more than 4 KiB.
[[nodiscard]] result<std::optional<proxy_header>> read_proxy_header(std::string_view seen);

/// `version`: 1 or 2. Null: the proxy speaks for itself.
[[nodiscard]] std::string write_proxy_header(int version, const std::optional<proxied_ends>& ends);

}  // namespace strata::proto
