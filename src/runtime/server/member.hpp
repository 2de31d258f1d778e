// One who hears and is heard: a stream's session or a UDP peer.
#pragma once

#include <cstdint>

#include "loop/task.hpp"
#include "loop/timer.hpp"
#include "runtime/server/broadcast_log.hpp"

namespace strata::runtime::server {

class shard;

class member {
 public:
  member(shard& home, bool is_datagram);
  member(const member&) = delete;
  member& operator=(const member&) = delete;
  virtual ~member();

  /// Unique in its server; the shard's number is in the upper 16 bits.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] bool is_datagram() const { return is_datagram_; }

  /// Takes messages to be sent to it, or drops them by the server's rules. How many it took.
  virtual std::size_t offer(const batch& messages) = 0;
  /// Ends it soon; safe while members are gone through.
  virtual void dismiss() = 0;
  /// Awaits, until `limit` at the longest, that what was offered has reached it. It may leave
  /// meanwhile.
  virtual loop::task<> delivered(loop::time_point /*limit*/) { co_return; }
  /// Nothing more will be offered: tells it so, behind what waits for it.
  virtual void end() {}

  std::int64_t rate_due = 0;     ///< for `admit`
  loop::time_point last_active;  ///< when it last sent something
  unsigned failed_claims = 0;    ///< wrong master passwords

 protected:
  shard& home_;

 private:
  friend class shard;
  std::uint64_t id_;
  std::size_t position_ = 0;  // in the shard's list
  bool is_datagram_;
};

}  // namespace strata::runtime::server
