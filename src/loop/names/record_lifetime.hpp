// How long a host's addresses are valid according to its name server.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "loop/names/address.hpp"

namespace strata::loop {

/// Returns the shortest time to live (RFC 1035, TTL) of the records that lead to `address`, from
/// the name server's answer to one query per address family, each with a timeout of a second.
/// Returns half a minute if no record states it, as for names of /etc/hosts. Blocks. From any
/// thread.
[[nodiscard]] std::chrono::seconds lifetime_of(const std::string& host,
                                               const std::vector<socket_address>& address);

}  // namespace strata::loop
