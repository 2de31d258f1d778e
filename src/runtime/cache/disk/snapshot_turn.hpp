// Ensures that snapshots are written one at a time: the persistence's for a file, and the leader's
// for its followers.
#pragma once

#include "loop/condition.hpp"
#include "loop/task.hpp"
#include "runtime/cache/engine/keyspace.hpp"

namespace strata::runtime::cache {

class snapshot_turn {
 public:
  snapshot_turn(loop::loop& loop, keyspace& keyspace) : keys_(keyspace), over_(loop) {
    keys_.on_guard_admitted([this] { over_.notify(); });
  }
  ~snapshot_turn() { keys_.on_guard_admitted({}); }
  snapshot_turn(const snapshot_turn&) = delete;
  snapshot_turn& operator=(const snapshot_turn&) = delete;

  /// Waits until no snapshot is being written, and no command is interrupted: the caller must begin
  /// one before it waits for anything else.
  [[nodiscard]] loop::task<> come();

 private:
  keyspace& keys_;
  loop::condition over_;
};

inline loop::task<> snapshot_turn::come() {
  // Another waiter may have begun a snapshot since.
  while (!keys_.admits_guard()) {
    [[maybe_unused]] const bool is_free =
        co_await over_.wait([this] { return keys_.admits_guard(); });
  }
}

}  // namespace strata::runtime::cache
