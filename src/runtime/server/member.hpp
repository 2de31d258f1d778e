// One who hears and is heard: a stream's session, a WebSocket, a UDP peer.
#pragma once

#include <cstdint>

#include "loop/address.hpp"
#include "loop/task.hpp"
#include "loop/timer.hpp"
#include "runtime/server/broadcast_log.hpp"

namespace strata::runtime::server {

class shard;

class member {
 public:
  /// `how`: what it takes of a batch. A member without a connection sends datagrams.
  member(shard& home, encoding how, bool has_connection = true);
  member(const member&) = delete;
  member& operator=(const member&) = delete;
  virtual ~member();

  /// Unique in its server; the shard's number is in the upper 16 bits.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] bool has_connection() const { return has_connection_; }
  [[nodiscard]] encoding wanted() const { return wanted_; }
  /// Where it is; empty when that is unknown or has no address.
  [[nodiscard]] virtual loop::socket_address address() const { return {}; }

  /// Takes messages to be sent to it, or drops them by the server's rules. How many it took.
  virtual std::size_t offer(const batch& messages) = 0;
  /// Bytes that it holds: of a message that is not whole, and of what waits for it.
  [[nodiscard]] virtual std::size_t held() const { return 0; }
  /// Ends it soon; safe while members are gone through.
  virtual void dismiss() = 0;
  /// Awaits, until `limit` at the longest, that what was offered has reached it. It may leave
  /// meanwhile.
  virtual loop::task<> delivered(loop::time_point /*limit*/) { co_return; }
  /// Nothing more will be offered: tells it so, behind what waits for it.
  virtual void end() {}
  /// Called now and then: it may look whether its peer is still there.
  virtual void look_after(loop::time_point /*now*/) {}

  std::int64_t rate_due = 0;     ///< for `admit`
  loop::time_point last_active;  ///< when it last sent something
  loop::time_point last_whole;   ///< when its last message was whole, or it came
  unsigned failed_claims = 0;    ///< wrong master passwords

 protected:
  shard& home_;

 private:
  friend class shard;
  std::uint64_t id_;
  std::size_t position_ = 0;  // in the shard's list
  encoding wanted_;
  bool has_connection_;
};

}  // namespace strata::runtime::server
