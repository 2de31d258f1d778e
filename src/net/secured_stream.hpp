// The additional state of a stream that speaks TLS. For stream*.cpp alone.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "net/stream.hpp"
#include "net/tls/session.hpp"

namespace strata::net {

struct stream::secured {
  std::shared_ptr<tls_session> session;  // shared with the outbox's sealer
  std::vector<arrival> plain;            // decrypted and not taken yet; oldest first
  bool has_ended = false;                // no more data follows
  std::optional<error> failed;           // the error, if it did not end in good order
};

}  // namespace strata::net
