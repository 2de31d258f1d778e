// FAILOVER: a planned change of the leader. The leader postpones writes, waits until a follower has
// all changes, follows it, and asks it to lead (PSYNC … FAILOVER). Redis and caches do so with each
// other.
//
// This is the leader's state of it. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/replication.hpp"
#include "runtime/cache/replication/leader.hpp"
#include "runtime/journal.hpp"

namespace strata::runtime::cache {

class failover {
 public:
  /// All must outlive it.
  failover(engine& engine, leader& leader, std::shared_ptr<journal> log)
      : engine_(engine), leader_(leader), log_(std::move(log)) {}
  failover(const failover&) = delete;
  failover& operator=(const failover&) = delete;

  [[nodiscard]] bool is_on() const { return stage_ != stage::none; }
  /// As INFO names it.
  [[nodiscard]] std::string_view state() const;
  /// Returns Redis's error text after "ERR "; empty if it has begun.
  [[nodiscard]] std::string begin(failover_request request, bool is_follower);
  /// Called periodically: returns the follower that is to lead, once it has all changes, or once
  /// the time is over and the failover is forced. Ends a failover that has no more time.
  [[nodiscard]] std::optional<leader::place> choose_successor();
  /// Lets clients write again, if this cache may.
  void end();

 private:
  enum class stage : std::uint8_t { none, waits, hands_over };

  engine& engine_;
  leader& leader_;
  std::shared_ptr<journal> log_;
  stage stage_ = stage::none;
  failover_request request_;
  std::optional<std::int64_t> deadline_ms_;
};

}  // namespace strata::runtime::cache
