// The address of a Redis server, as scripts give it: `redis://USER:PASSWORD@HOST:PORT/DATABASE`, a
// cache of this daemon, or any stream endpoint.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/endpoint_url.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::scripting {

struct redis_place {
  net::endpoint_url url = {};
  std::string user = {};      ///< empty: the server's default
  std::string password = {};  ///< empty: none is sent
  std::uint64_t database = 0;

  bool operator==(const redis_place&) const = default;
};

/// Parses an address. Errors: invalid_argument, without the password.
[[nodiscard]] result<redis_place> parse_redis_place(std::string_view text);

}  // namespace strata::runtime::scripting
