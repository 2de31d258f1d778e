// A runtime that the daemon has: what shall be of it, which is its record, and what is.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/store/record_store.hpp"
#include "loop/async_lock.hpp"
#include "loop/loop.hpp"
#include "net/backoff.hpp"
#include "runtime/runtime.hpp"
#include "runtime/types/types.hpp"

namespace strata::daemon {

enum class run_state : std::uint8_t { created, running, stopping, stopped, failed };
[[nodiscard]] std::string_view name_of(run_state state);

/// The other runtimes that one names in its options.
struct relatives {
  std::string owner;
  std::vector<std::string> needs;
};

struct entry {
  /// What shall be. Its options are those of the last save; `body` has those in force.
  record wanted;
  const runtime::type_row* type = nullptr;

  // --- what is
  run_state state = run_state::created;
  std::string reason;  ///< why it failed
  loop::time_point started;
  /// When it is started again by itself.
  std::optional<loop::time_point> next_start;
  net::backoff restarts;
  std::uint64_t changes = 0;  ///< starts, stops and the like: what one has planned, another voids
  bool is_saved = false;      ///< in the store; until then it is shown to nobody
  std::optional<record> stored;  ///< what the store has for certain
  bool is_starting = false;      ///< listens perhaps, and does not count as running yet
  std::size_t edits = 0;         ///< that wait for the lock
  std::atomic<bool> gives_up_saving = false;  ///< a later order does not wait for it
  bool is_stopping = false;  ///< runs still, until what it delivers or saves first is done
  bool removed = false;      ///< no longer among the entries
  bool ended = false;        ///< stopped for good by `shut_down`
  /// While an edit is being saved: what it would change back to if that fails.
  std::optional<relatives> before_edit;
  std::shared_ptr<runtime::journal> log;
  std::shared_ptr<runtime::journal> messages;
  std::unique_ptr<runtime::runtime> body;
  loop::async_lock lock;  ///< held by the one operation under way

  [[nodiscard]] const std::string& name() const { return wanted.name; }
  /// What people are shown: one that is being stopped is `running` to the supervisor until it ends.
  [[nodiscard]] run_state shown_state() const {
    return is_stopping && state == run_state::running ? run_state::stopping : state;
  }
  [[nodiscard]] double uptime_s(loop::time_point now) const {
    return state == run_state::running ? std::chrono::duration<double>(now - started).count() : 0;
  }
};
using entry_ref = std::shared_ptr<entry>;
/// By name.
using entry_map = std::map<std::string, entry_ref>;

/// The error of one that asks for a runtime that is not there.
[[nodiscard]] std::unexpected<error> not_found(const std::string& name,
                                               std::span<const std::string> known = {});

}  // namespace strata::daemon
