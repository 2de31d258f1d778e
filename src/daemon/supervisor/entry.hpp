// A runtime that the daemon has: what shall be of it, which is its record, and what is.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
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

struct entry {
  /// `seed` of the pauses between restarts; 0: one by chance.
  explicit entry(loop::loop& loop, std::uint64_t seed = 0) : restarts(seed), lock(loop) {}

  /// What shall be.
  record desired;
  /// Options of `desired` that the body does not have yet.
  nlohmann::json unapplied = nlohmann::json::object();
  /// The last record that the store is known to have had. Revision 0: none, and until there is one
  /// the entry is shown to nobody.
  record stored;
  /// What has been asked to be written without an answer, or in vain: the store may have it, or
  /// not.
  std::optional<record> attempted;
  const runtime::type_row* type = nullptr;

  // --- what is
  std::string reason;  ///< why it failed
  loop::time_point started;
  /// When it is started again automatically.
  std::optional<loop::time_point> next_start;
  net::backoff restarts;
  std::uint64_t changes = 0;  ///< starts, stops and the like: what one has planned, another voids
  std::size_t edits = 0;      ///< that wait for the lock
  /// While an edit is being written: what the body becomes by it. Else null.
  const runtime::runtime* edited = nullptr;
  std::shared_ptr<runtime::journal> log;
  std::shared_ptr<runtime::journal> messages;
  std::shared_ptr<runtime::tap> tap;
  std::unique_ptr<runtime::runtime> body;
  loop::async_lock lock;  ///< held by the one operation that changes the entry

  run_state state = run_state::created;
  bool is_starting = false;  ///< listens perhaps, and does not count as running yet
  bool is_stopping = false;  ///< runs still, until what it delivers or saves first is done
  bool removed = false;      ///< no longer among the entries
  bool ended = false;        ///< stopped for good, since the daemon ends
  std::atomic<bool> gives_up_saving = false;  ///< a later order does not wait for it
  bool has_write_pending = false;             ///< of `desired`, which could not be written
  bool has_return_pending = false;            ///< a restart after a failure waits for its time

  [[nodiscard]] const std::string& name() const { return desired.name; }
  [[nodiscard]] bool is_stored() const { return stored.revision != 0; }
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
