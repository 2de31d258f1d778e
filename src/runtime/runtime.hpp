// A runtime: a named object that runs on loops until it is stopped. Server, client, …
//
// A runtime object lives on the daemon's home loop; all its members are called there. It may use
// other loops as it likes, but after `stop()` nothing of it is left on them.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loop/async_lock.hpp"
#include "loop/loop.hpp"
#include "net/directory.hpp"
#include "runtime/figures.hpp"
#include "runtime/journal.hpp"
#include "runtime/options/runtime_options.hpp"
#include "runtime/tap.hpp"

namespace strata::runtime {

class runtime_service;

/// Where runtimes get loops from.
class loop_source {
 public:
  /// Returns the `count` least busy loops. Owned by the source, which outlives the runtimes.
  /// Errors: no more can be created, for want of descriptors or memory.
  [[nodiscard]] virtual result<std::vector<loop::loop*>> assign(std::size_t count) = 0;
  /// The caller has nothing left on the loops: they may end.
  virtual void release(const std::vector<loop::loop*>& loops) = 0;
  /// The present number of loops.
  [[nodiscard]] virtual std::size_t size() const = 0;

 protected:
  ~loop_source() = default;
};

/// The arguments for making a runtime. All of it outlives the runtime.
struct context {
  std::string name;
  loop::loop& home;
  loop_source& loops;
  net::directory& names;
  /// Held while ports are checked and taken, so that no two runtimes share one.
  loop::async_lock& binding;
  /// The runtime's log.
  std::shared_ptr<journal> log;
  /// The messages that it receives, for observers.
  std::shared_ptr<journal> messages;
  /// Shows the runtime's traffic.
  std::shared_ptr<strata::runtime::tap> tap;
  /// Reports an event of the runtime to the followers of the daemon's events. From any thread.
  std::function<void(std::string_view event, const std::string& detail)> report =
      [](std::string_view, const std::string&) {};
  /// Carries out a script's requests about other runtimes. Null if there are none.
  runtime_service* others = nullptr;
  /// The daemon's state folder; empty: it has none.
  std::string state_folder = {};
};

/// Figures of one object within a runtime.
struct detail {
  std::vector<std::string> labels;     ///< in the order of the row's labels
  std::vector<nlohmann::json> values;  ///< in the order of the row's figures
};

struct edit_outcome {
  std::vector<std::string> applied;
  std::vector<std::string> needs_restart;
};

/// The result of a reload.
enum class reload_outcome : std::uint8_t {
  nothing_to_read,
  files_read,
  needs_restart,  ///< an edit needs a restart
};

class runtime {
 public:
  runtime() = default;
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  virtual ~runtime() = default;

  /// Called while not running. After an error nothing runs.
  virtual loop::task<result<void>> start() = 0;
  /// Called while running, or to clean up after it failed by itself. Pending deliveries are given
  /// up at `limit`.
  virtual loop::task<void> stop(loop::time_point limit) = 0;
  loop::task<void> stop() { return stop(loop::time_point::max()); }
  /// Called while running, before `stop`: takes no more connections, since another process takes
  /// them by copies of the listening sockets. The present ones continue.
  virtual loop::task<void> stop_accepting() { co_return; }
  /// Makes `start` or `stop` give up its waits: a connection attempt, pending deliveries. Called
  /// while one of them is under way; otherwise it does nothing.
  virtual void hurry() = 0;
  /// The next stop leaves its processes running, and its data in the folder `handover` of the state
  /// folder, for the daemon that takes over.
  virtual void hand_over() {}
  /// Checks whether a restart would succeed, as far as can be told while it runs. Errors: those of
  /// `start`.
  virtual loop::task<result<void>> rehearse() = 0;
  /// Called while running: reads its files again, and keeps running. Errors: those of a file; what
  /// was read before stays in force.
  virtual loop::task<result<reload_outcome>> reload() = 0;
  /// Edited options that take effect at the next start.
  [[nodiscard]] virtual std::vector<std::string> pending_options() const = 0;
  /// Checks that each option in `changes` has an effect, together with the other options. Options
  /// saved before are not checked. Errors: as `edit`, and for an option without effect.
  [[nodiscard]] virtual result<void> check_effects(const nlohmann::json& changes) const = 0;
  /// Changes options, all or none. A change that needs no restart takes effect on each loop at its
  /// next turn: `wait_until_applied` waits for that.
  virtual result<edit_outcome> edit(const nlohmann::json& changes) = 0;
  /// Waits until all edits so far are in force. Not while it starts or stops.
  virtual loop::task<void> wait_until_applied() = 0;

  [[nodiscard]] virtual nlohmann::json options(bool with_secrets) const = 0;
  [[nodiscard]] virtual const runtime_options& common() const = 0;
  /// As bound while running, otherwise as configured.
  [[nodiscard]] virtual std::vector<std::string> endpoints() const = 0;
  /// Whether its endpoints are where it listens, not where it connects.
  [[nodiscard]] virtual bool listens() const { return true; }
  /// If each endpoint leads to an instance of its own, so that a proxy takes each for a backend:
  /// the numbers of the instances that take work now. Nullopt otherwise.
  [[nodiscard]] virtual std::optional<std::vector<std::size_t>> open_instances() const {
    return std::nullopt;
  }
  /// Whether another process may run the same runtime, on copies of its listening sockets, while
  /// this one still serves its present clients.
  [[nodiscard]] virtual bool may_overlap() const { return false; }
  /// Whether it serves clients of other machines, if its endpoints are reachable for them.
  [[nodiscard]] virtual bool serves_strangers() const { return true; }
  /// Names of the runtimes that it connects to: they are started before it, and stopped after it.
  [[nodiscard]] virtual std::vector<std::string> needs() const { return {}; }
  /// Groups to whose present members it connects.
  [[nodiscard]] virtual std::vector<std::string> follows() const { return {}; }
  /// The certificates that it presents, as an array of objects; empty without TLS. If it does not
  /// run, the present content of its files.
  [[nodiscard]] virtual nlohmann::json certificates() const;
  /// A warning about its configuration for users; empty if there is none.
  [[nodiscard]] virtual std::string warning() const { return {}; }
  /// The figures that every runtime has.
  [[nodiscard]] virtual statistics stats() const = 0;
  /// The values of all its figures, in the order of its type's rows.
  [[nodiscard]] virtual std::vector<nlohmann::json> figures() const {
    return values_of(stats(), common_figures());
  }
  /// The figures of objects within it: for each of its type's `details`, one entry per object.
  [[nodiscard]] virtual std::vector<std::vector<detail>> details() const { return {}; }
  /// Why it ended by itself; empty otherwise. Cleared by `start()`.
  [[nodiscard]] virtual std::string failure_reason() const { return {}; }
  /// Whether it ended by itself because its work was done: no failure.
  [[nodiscard]] virtual bool has_done_its_work() const { return false; }
  /// Whether it ended by itself after it had restarted its work as often as `restart_limit` allows:
  /// it stays ended.
  [[nodiscard]] virtual bool has_spent_its_restarts() const { return false; }

  /// Called on the home loop when a runtime ends by itself.
  std::function<void()> on_failure;
  /// Called on the home loop when its open instances have changed.
  std::function<void()> on_open_instances;
};

/// The second of `now` on the loop's clock, for rate meters.
[[nodiscard]] inline std::uint64_t second_of(loop::time_point now) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
}

}  // namespace strata::runtime
