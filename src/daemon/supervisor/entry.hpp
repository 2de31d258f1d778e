// A runtime of the daemon: its desired state, which is its record, and its present state.
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

/// Where a runtime serves.
struct service_place {
  std::vector<std::string> endpoints;
  std::optional<std::vector<std::size_t>> open_instances;
};

struct entry {
  /// `seed` of the pauses between restarts; 0: random.
  explicit entry(loop::loop& loop, std::uint64_t seed = 0) : restarts(seed), lock(loop) {}

  /// The desired state.
  record desired;
  /// Options of `desired` that are not applied to the body yet.
  nlohmann::json unapplied = nlohmann::json::object();
  /// The last record that the store is known to have had. Revision 0: none, and until there is one
  /// the entry is not shown.
  record stored;
  /// A write without an answer, or with an error: the store may have it or not.
  std::optional<record> attempted;
  const runtime::type_row* type = nullptr;

  // --- what is
  std::string reason;  ///< why it failed
  loop::time_point started;
  /// When it is restarted automatically.
  std::optional<loop::time_point> next_start;
  net::backoff restarts;
  std::uint64_t changes = 0;  ///< count of starts, stops and the like: each voids earlier plans
  std::size_t edits = 0;      ///< number of edits that wait for the lock
  /// While an edit is being written: the body as edited; otherwise null.
  const runtime::runtime* edited = nullptr;
  std::shared_ptr<runtime::journal> log;
  std::shared_ptr<runtime::journal> messages;
  std::shared_ptr<runtime::tap> tap;
  std::unique_ptr<runtime::runtime> body;
  loop::async_lock lock;  ///< held by the one operation that changes the entry

  run_state state = run_state::created;
  bool is_starting = false;  ///< it may be listening, but does not count as running yet
  bool is_stopping = false;  ///< it still runs, until it has delivered or saved its data
  bool removed = false;      ///< no longer among the entries
  bool ended = false;        ///< stopped for good because the daemon ends
  std::atomic<bool> gives_up_saving = false;  ///< a later order does not wait for the save
  bool has_write_pending = false;             ///< `desired` could not be written yet
  bool has_return_pending = false;            ///< a restart after a failure is scheduled
  /// Where it served when it stopped for a later daemon: connections wait there for that one.
  std::optional<service_place> handed_over;

  [[nodiscard]] const std::string& name() const { return desired.name; }
  /// The options to be in force: those of the body, which may have changed some by itself, and
  /// those that are not applied yet, with these changes. A change to null resets an option.
  [[nodiscard]] nlohmann::json options_with(const nlohmann::json& changes) const;
  /// The record to write for its present options.
  [[nodiscard]] record present_record() const;
  [[nodiscard]] bool is_stored() const { return stored.revision != 0; }
  /// The state shown to users: a stopping runtime is `running` to the supervisor until it ends.
  [[nodiscard]] run_state shown_state() const {
    return is_stopping && state == run_state::running ? run_state::stopping : state;
  }
  /// Where connections to it are served; nullopt: nowhere.
  [[nodiscard]] std::optional<service_place> place() const {
    if (state != run_state::running) return handed_over;
    return service_place{.endpoints = body->endpoints(), .open_instances = body->open_instances()};
  }
  [[nodiscard]] double uptime_s(loop::time_point now) const {
    return state == run_state::running ? std::chrono::duration<double>(now - started).count() : 0;
  }
};
using entry_ref = std::shared_ptr<entry>;
/// By name.
using entry_map = std::map<std::string, entry_ref>;

/// The error for a runtime that does not exist.
[[nodiscard]] std::unexpected<error> not_found(const std::string& name,
                                               std::span<const std::string> known = {});

}  // namespace strata::daemon
