// A message of a member.
#pragma once

#include <cstdint>

#include "strata/base/bytes.hpp"

namespace strata::runtime::server {

/// The sender's declaration. Only WebSockets have one; other messages are text if they can be.
enum class message_kind : std::uint8_t { unsaid, text, binary };

struct message {
  byte_span bytes;
  message_kind kind = message_kind::unsaid;
};

}  // namespace strata::runtime::server
