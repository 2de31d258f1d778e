// What a member says.
#pragma once

#include <cstdint>

#include "strata/base/bytes.hpp"

namespace strata::runtime::server {

/// What its sender called it. Only WebSockets say it; others' messages are text where they can be.
enum class message_kind : std::uint8_t { unsaid, text, binary };

struct message {
  byte_span bytes;
  message_kind kind = message_kind::unsaid;
};

}  // namespace strata::runtime::server
