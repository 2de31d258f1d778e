// How a script's connection to a Redis server, or to a cache, is made.
#pragma once

#include <optional>

#include "redis/connection.hpp"
#include "runtime/options/script_rights.hpp"
#include "script/call.hpp"

namespace strata::runtime::scripting {

struct redis_settings {
  redis::address server = {};
  loop::duration timeout = {};  ///< for an answer, and for connecting
  net::tls_client_settings tls = {};
};

/// Reads the arguments of a script: at `server_index` the address, at `options_index` a table of
/// options. Nullopt if the call has failed.
[[nodiscard]] std::optional<redis_settings> read_redis_settings(const script_rights& rights,
                                                                script::call& call,
                                                                int server_index,
                                                                int options_index);

/// Connects as these settings demand. TLS files are read each time, as they may have changed.
/// `names` looks up runtimes; null: there are none.
[[nodiscard]] loop::task<result<void>> open_connection(redis::connection& connection,
                                                       const redis_settings& settings,
                                                       net::directory* names);

/// Limits of one answer: a script could not hold more.
inline constexpr proto::value_limits script_reply_limits{
    .max_bulk = 64U << 20U, .max_values = 1U << 20U, .max_reply = 64U << 20U};

}  // namespace strata::runtime::scripting
