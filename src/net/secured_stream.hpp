// What a stream has beside itself once it speaks TLS. For stream*.cpp alone.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "net/stream.hpp"
#include "net/tls/session.hpp"

namespace strata::net {

struct stream::secured {
  std::shared_ptr<tls_session> session;  // the outbox's sealer has it too
  std::vector<arrival> plain;            // opened, and not taken yet; oldest first
  bool has_ended = false;                // nothing follows
  std::optional<error> failed;           // why it has ended, if not in good order
};

}  // namespace strata::net
