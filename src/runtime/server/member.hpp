// One who hears and is heard: a stream's session, a WebSocket, a UDP peer.
#pragma once

#include <cstdint>
#include <string>

#include "loop/names/address.hpp"
#include "loop/task.hpp"
#include "loop/timer.hpp"
#include "runtime/clients.hpp"
#include "runtime/server/broadcast_log.hpp"

namespace strata::runtime::server {

class shard;

/// How a member is there.
enum class presence : std::uint8_t {
  connected,
  datagrams,  ///< without a connection
  passing,    ///< for a moment: it says one thing, or becomes another member
};

/// Why a member is ended. A WebSocket's client is told.
enum class parting : std::uint8_t { asked_for, idle, silent, refused, too_slow, memory };

class member {
 public:
  /// `encoding`: what it takes of a batch.
  member(shard& shard, encoding encoding, presence presence = presence::connected);
  member(const member&) = delete;
  member& operator=(const member&) = delete;
  virtual ~member();

  /// Unique in its server; the shard's number is above `shard_bits`.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] bool has_connection() const { return as_ != presence::datagrams; }
  [[nodiscard]] bool is_passing() const { return as_ == presence::passing; }
  [[nodiscard]] encoding wanted() const { return wanted_; }
  /// Where it is; empty when that is unknown or has no address.
  [[nodiscard]] virtual loop::socket_address address() const { return {}; }
  /// Of the certificate that it has shown; empty: none.
  [[nodiscard]] virtual std::string tls_subject() const { return {}; }

  /// Takes messages to be sent to it, or drops them by the server's rules. How many it took.
  virtual std::size_t offer(const batch& messages) = 0;
  /// Bytes that it holds: of a message that is not whole, and of what waits for it.
  [[nodiscard]] virtual std::size_t held() const { return 0; }
  /// Ends it soon; safe while members are gone through.
  virtual void dismiss(parting why) = 0;
  /// Awaits, until `limit` at the longest, that what was offered has reached it. It may leave
  /// meanwhile.
  virtual loop::task<> delivered(loop::time_point /*limit*/) { co_return; }
  /// Nothing more will be offered: tells it so, behind what waits for it.
  virtual void end() {}
  /// Its peer is told that it ends when the server stops, whether or not that drains...
  [[nodiscard]] virtual bool says_farewell() const { return false; }
  /// Called now and then: it may look whether its peer is still there.
  virtual void look_after(loop::time_point /*now*/) {}

  /// As a URL's scheme names it; empty: it is not shown to people.
  [[nodiscard]] virtual std::string_view protocol() const { return {}; }

  const loop::time_point came;   ///< when it came
  traffic passed;                ///< what it has said and was offered
  std::int64_t rate_due = 0;     ///< for `admit`
  loop::time_point last_active;  ///< when it last sent something
  loop::time_point last_whole;   ///< when its last message was whole, or it came

 protected:
  shard& home_;

 private:
  friend class shard;
  std::uint64_t id_;
  std::uint32_t position_ = 0;  // in the shard's list

  // In this order there is no gap, and small members of derived classes stand behind them: of an
  // idle WebSocket each byte more than 512 costs 128.
 public:
  unsigned failed_claims = 0;  ///< wrong master passwords
  bool is_admitted = true;     ///< hears messages

 private:
  encoding wanted_;
  presence as_;
};

}  // namespace strata::runtime::server
