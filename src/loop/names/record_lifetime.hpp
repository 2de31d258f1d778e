// How long a host's addresses are good for, as its name server says.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "loop/names/address.hpp"

namespace strata::loop {

/// The shortest time to live of the records that lead to `address` (RFC 1035, TTL), of those that
/// the name server answers with when it is asked once, for a second at the longest. Half a minute
/// where no record says it: names of /etc/hosts. Blocks. From any thread.
[[nodiscard]] std::chrono::seconds lifetime_of(const std::string& host,
                                               const std::vector<socket_address>& address);

}  // namespace strata::loop
