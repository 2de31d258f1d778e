// The address of a Redis server, or of a cache.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/endpoint_url.hpp"
#include "strata/base/result.hpp"

namespace strata::redis {

struct address {
  net::endpoint_url url = {};  ///< a stream of bytes, or the name of a runtime
  std::string user = {};       ///< empty: the server's default user
  std::string password = {};   ///< empty: none is sent
  std::uint64_t database = 0;

  bool operator==(const address&) const = default;
};

/// Parses `redis://USER:PASSWORD@HOST:PORT/DATABASE` (`rediss://` with TLS; port 6379 unless it is
/// given), the name of a cache, or a stream endpoint. Errors: invalid_argument; no error contains
/// the password.
[[nodiscard]] result<address> parse_address(std::string_view text);

}  // namespace strata::redis
