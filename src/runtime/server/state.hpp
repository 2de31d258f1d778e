// State shared by all shards of one server, and how they reach each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loop/loop.hpp"
#include "net/tls/slot.hpp"
#include "runtime/counters.hpp"
#include "runtime/journal.hpp"
#include "runtime/rate_limiter.hpp"
#include "runtime/scripting/shared_store.hpp"
#include "runtime/server/claim_guard.hpp"
#include "runtime/server/message.hpp"
#include "runtime/tap.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime {
class runtime_service;
}

namespace strata::runtime::server {

class shard;

/// The shard's number in a member's id is above these bits. An id is exact as a number of a script
/// (a double).
inline constexpr unsigned shard_bits = 40;

struct server_state {
  server_state(serve::connection_gauge& gauge, const std::atomic<bool>& hurry,
               std::shared_ptr<journal> log_of, std::shared_ptr<journal> messages_of,
               std::shared_ptr<strata::runtime::tap> tap_of,
               std::shared_ptr<net::tls_slot> identity)
      : connections(gauge),
        hurried(hurry),
        log(std::move(log_of)),
        messages(std::move(messages_of)),
        tap(std::move(tap_of)),
        secure(std::move(identity)) {}

  serve::connection_gauge& connections;
  /// Set when a stop is not to wait for deliveries.
  const std::atomic<bool>& hurried;
  shared_rate_limiter rate;
  std::atomic<std::uint64_t> next_id = 1;
  /// The id of the master, or 0.
  std::atomic<std::uint64_t> master = 0;
  claim_guard claims;  // for claims to be master
  std::shared_ptr<journal> log;
  std::shared_ptr<journal> messages;
  std::shared_ptr<strata::runtime::tap> tap;
  std::shared_ptr<net::tls_slot> secure;
  /// Values that the scripts of all shards share.
  std::shared_ptr<scripting::shared_store> shared;
  runtime_service* others = nullptr;

  struct far_shard {
    loop::loop* where;
    shard* who;
  };
  /// Set before any shard runs, and not changed until all have stopped.
  std::vector<far_shard> shards;

  /// The shard of the member with that id, if it exists: scripts may pass any id. Null if there is
  /// no such shard.
  [[nodiscard]] const far_shard* home_of(std::uint64_t id) const {
    const auto number = id >> shard_bits;
    return number < shards.size() ? &shards[number] : nullptr;
  }
};

/// Messages on their way to another shard.
struct far_batch {
  struct part {
    std::uint32_t size;
    message_kind kind;
    std::uint64_t except;  ///< the member that does not receive it; 0: all do
  };
  std::string bytes;
  std::vector<part> messages;
};

}  // namespace strata::runtime::server
