// Which members receive a message: the decision of a server's mode.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/server/message.hpp"

namespace strata::runtime::server {

class member;
class shard;

/// One object for all servers with its mode: its state is in the shard and the server.
class policy {
 public:
  policy() = default;
  policy(const policy&) = delete;
  policy& operator=(const policy&) = delete;
  virtual ~policy() = default;

  /// Handles a message from a member of `shard`, within its limits.
  virtual void on_message(shard& shard, member& member, const message& message) const = 0;
  /// Whether members receive messages from outside, sent with `strata send`.
  [[nodiscard]] virtual bool takes_sends() const { return true; }
};

/// The policy for a mode of the option's choices, "inout|in|out|echo|master".
[[nodiscard]] const policy& policy_of(std::string_view mode);

/// The policy for mode "master".
[[nodiscard]] const policy& master_policy();
/// Handles the result of a claim by `member` to be master, and reports it to the member.
void settle_claim(shard& shard, member& member, bool is_right);

}  // namespace strata::runtime::server
