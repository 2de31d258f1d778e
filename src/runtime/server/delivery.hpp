// Messages on their way from one shard of a server: to its own members, and to the other shards.
//
// Messages are gathered in a batch while they have the same receivers. For the shard's loop.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "loop/loop.hpp"
#include "runtime/server/broadcast_log.hpp"
#include "runtime/server/encoding.hpp"
#include "runtime/server/member.hpp"
#include "runtime/server/message.hpp"
#include "runtime/server/state.hpp"

namespace strata::runtime::server {

class shard;

class delivery final : private loop::turn_end_hook {
 public:
  /// `encoding`, which must have an envelope, is that of most members. The shard outlives it.
  delivery(shard& shard, encoding encoding) : home_(shard), log_(encoding), direct_log_(encoding) {}

  /// Sends to all members of all shards, except `except`.
  void relay(const message& message, std::uint64_t except);
  /// Sends to one member of this shard.
  void send(member& member, const message& message);
  /// Delivers the gathered messages to this shard's members.
  void deliver();
  /// Sends a message to all members of this shard. Returns how many took it. Nothing is gathered
  /// when it is called.
  std::uint64_t send_to_all(const message& message);
  /// Delivers messages from another shard.
  void take(const far_batch& batch);
  /// Sends the gathered messages to the other shards; otherwise that happens at the turn's end.
  void send_to_shards();
  /// Shows a message to or from a member in the tap, which has a reader.
  void show(bool is_outgoing, const member& member, std::string sender, std::string receiver,
            byte_span message) const;
  /// The member leaves: what is gathered for it alone is dropped.
  void forget(const member& gone);

 private:
  void on_turn_end() override { send_to_shards(); }
  /// Adds to the batch for all members, except `except`.
  void gather(const message& message, std::uint64_t except);
  /// Offers a batch to one member. Returns how many of its messages the member took.
  std::size_t offer_to(member& member, const batch& messages, std::uint64_t speaker);
  /// Returns how many members took all messages of the batch.
  std::uint64_t deliver_log(std::uint64_t except);
  void deliver_direct();

  shard& home_;
  broadcast_log log_;
  std::uint64_t speaker_ = 0;  // the member whose messages are in log_
  broadcast_log direct_log_;   // for one member alone; one of the two logs is empty
  member* direct_receiver_ = nullptr;
  far_batch far_;  // for the other shards
};

}  // namespace strata::runtime::server
