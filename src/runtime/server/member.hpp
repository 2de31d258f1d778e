// A participant that sends and receives messages: a stream's session, a WebSocket, a UDP peer.
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

/// How a member is connected.
enum class presence : std::uint8_t {
  connected,
  datagrams,  ///< without a connection
  passing,    ///< temporary: it sends one message, or becomes another member
};

/// Why a member is ended. A WebSocket's client gets the reason.
enum class parting : std::uint8_t { asked_for, idle, silent, refused, too_slow, memory };

class member {
 public:
  /// `encoding`: the encoding in which it takes a batch. `id`: one of the shard's, or 0 for the
  /// next.
  member(shard& shard, encoding encoding, presence presence = presence::connected,
         std::uint64_t id = 0);
  member(const member&) = delete;
  member& operator=(const member&) = delete;
  virtual ~member();

  /// Unique in its server; the shard's number is in the bits from `shard_bits` on.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] bool has_connection() const { return as_ != presence::datagrams; }
  [[nodiscard]] bool is_passing() const { return as_ == presence::passing; }
  [[nodiscard]] encoding wanted() const { return wanted_; }
  /// Empty if it is unknown or there is no address.
  [[nodiscard]] virtual loop::socket_address address() const { return {}; }
  /// Subject of the client's certificate; empty if it has none.
  [[nodiscard]] virtual std::string tls_subject() const { return {}; }

  /// Queues messages for it, or drops them by the server's rules. Returns how many it took.
  virtual std::size_t offer(const batch& messages) = 0;
  /// Bytes that it holds: of an incomplete message, and of unsent ones.
  [[nodiscard]] virtual std::size_t held() const { return 0; }
  /// Ends it soon; safe while iterating over members.
  virtual void dismiss(parting why) = 0;
  /// Waits, until `limit` at most, until the queued messages have reached the client. The member
  /// may leave meanwhile.
  virtual loop::task<> delivered(loop::time_point /*limit*/) { co_return; }
  /// Nothing more will be queued: signals the end to the client, behind what is unsent.
  virtual void end() {}
  /// Whether its client is notified that the server stops, even without draining.
  [[nodiscard]] virtual bool says_farewell() const { return false; }
  /// Called periodically: it may check whether its client is still there.
  virtual void look_after(loop::time_point /*now*/) {}

  /// The name of its URL scheme; empty: it is not listed as a client.
  [[nodiscard]] virtual std::string_view protocol() const { return {}; }

  const loop::time_point came;   ///< when it connected
  traffic passed;                ///< what it has sent, and what was queued for it
  std::int64_t rate_due = 0;     ///< state of `admit`
  loop::time_point last_active;  ///< when it last sent something
  loop::time_point last_whole;   ///< when its last message was complete, or it connected

 protected:
  shard& home_;

 private:
  friend class shard;
  std::uint64_t id_;
  std::uint32_t position_ = 0;  // index in the shard's list

  // This order leaves no gap, and small members of derived classes can follow: for an idle
  // WebSocket each byte beyond 512 costs 128.
 public:
  std::uint8_t failed_claims = 0;     ///< wrong master passwords
  bool is_admitted = true;            ///< receives messages
  bool has_been_called_slow = false;  ///< the log has it: once is enough

 private:
  encoding wanted_;
  presence as_;
};

}  // namespace strata::runtime::server
