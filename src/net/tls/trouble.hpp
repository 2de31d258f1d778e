// TLS failures in words. For net/tls alone.
#pragma once

#include <string>

#include "net/tls/session.hpp"

namespace strata::net {

/// The error of a handshake that has just failed.
[[nodiscard]] error handshake_trouble(const tls_session::state& state);
/// The reason for a read that has just failed.
[[nodiscard]] std::string reading_trouble();

}  // namespace strata::net
