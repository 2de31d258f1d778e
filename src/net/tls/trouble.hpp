// Why TLS failed, in words. For net/tls alone.
#pragma once

#include <string>

#include "net/tls/session.hpp"

namespace strata::net {

/// Of a handshake that has just failed.
[[nodiscard]] error handshake_trouble(const tls_session::state& state);
/// Of a reading that has just failed.
[[nodiscard]] std::string reading_trouble();

}  // namespace strata::net
