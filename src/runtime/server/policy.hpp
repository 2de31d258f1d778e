// Which members hear which: what a server's mode decides about each message.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/server/message.hpp"

namespace strata::runtime::server {

class member;
class shard;

/// One for all servers of its mode: what it has to remember is the shard's and the server's.
class policy {
 public:
  policy() = default;
  policy(const policy&) = delete;
  policy& operator=(const policy&) = delete;
  virtual ~policy() = default;

  /// A member of `shard` has said something, within its limits.
  virtual void on_message(shard& shard, member& member, const message& message) const = 0;
  /// Members are told what others say from outside, with `strata send`.
  [[nodiscard]] virtual bool takes_sends() const { return true; }
};

/// A mode of the option's choices, "inout|in|out|echo|master".
[[nodiscard]] const policy& policy_of(std::string_view mode);

/// Of mode "master".
[[nodiscard]] const policy& master_policy();
/// `member` has claimed to be master, and is or is not right: it hears which.
void settle_claim(shard& shard, member& member, bool is_right);

}  // namespace strata::runtime::server
