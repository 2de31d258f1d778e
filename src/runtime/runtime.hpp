// A runtime: something named that runs on loops until it is stopped. Server, client, …
//
// A runtime object lives on the daemon's home loop; all its members are called there. What it does
// on other loops is its own affair, but after `stop()` nothing of it is left on them.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
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

class house;

/// Where runtimes get loops from.
class loop_source {
 public:
  /// The `count` loops with the least to do. Owned by the source, which outlives the runtimes.
  /// Errors: no more can be made, for want of descriptors or memory.
  [[nodiscard]] virtual result<std::vector<loop::loop*>> assign(std::size_t count) = 0;
  /// The caller has nothing left on them: they may end.
  virtual void release(const std::vector<loop::loop*>& loops) = 0;
  /// Loops that there are now.
  [[nodiscard]] virtual std::size_t size() const = 0;

 protected:
  ~loop_source() = default;
};

/// What a runtime is given when it is made. All of it outlives the runtime.
struct context {
  std::string name;
  loop::loop& home;
  loop_source& loops;
  net::directory& names;
  /// Held by the one that looks whether ports are free and takes them, so that no two share one.
  loop::async_lock& binding;
  /// What the runtime has to say to people.
  std::shared_ptr<journal> log;
  /// The messages that it receives, for those who look on.
  std::shared_ptr<journal> messages;
  /// What passes through it, for those who tap it.
  std::shared_ptr<strata::runtime::tap> tap;
  /// Tells those who follow the daemon's events of one of the runtime's own. From any thread.
  std::function<void(std::string_view event, const std::string& detail)> tell =
      [](std::string_view, const std::string&) {};
  /// Does to other runtimes what a script asks for. Null where there are none.
  house* others = nullptr;
};

/// Figures of one thing inside a runtime.
struct detail {
  std::vector<std::string> labels;     ///< in the order of the row's
  std::vector<nlohmann::json> values;  ///< in the order of the row's figures
};

struct edit_outcome {
  std::vector<std::string> applied;
  std::vector<std::string> needs_restart;
};

/// What a reload has come to.
enum class reload_outcome : std::uint8_t {
  nothing_to_read,
  files_read,
  needs_restart,  ///< an edit waits for it
};

class runtime {
 public:
  runtime() = default;
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  virtual ~runtime() = default;

  /// Called when not running. After an error nothing runs.
  virtual loop::task<result<void>> start() = 0;
  /// Called when running, or to clear up after it failed by itself. What it would deliver first is
  /// given up at `limit`.
  virtual loop::task<void> stop(loop::time_point limit) = 0;
  loop::task<void> stop() { return stop(loop::time_point::max()); }
  /// What `start` or `stop` waits for is given up: a connection that is being made, what would be
  /// delivered first. Called while one of them is under way; else it does nothing.
  virtual void hurry() = 0;
  /// Whether a restart would come up, as far as can be told while it runs. Errors: those of
  /// `start`.
  virtual loop::task<result<void>> rehearse() = 0;
  /// Called when running: reads its files again, and goes on as it is. Errors: of a file; what was
  /// read before stays in force.
  virtual loop::task<result<reload_outcome>> reload() = 0;
  /// Options that were edited, and are in force from the next start.
  [[nodiscard]] virtual std::vector<std::string> pending_options() const = 0;
  /// Whether each option that `changes` names does something, as the options are with them. What
  /// was saved before is not asked. Errors: as `edit`, and of what would have no effect.
  [[nodiscard]] virtual result<void> check_effects(const nlohmann::json& changes) const = 0;
  /// Changes options, all or none. What needs no restart is in force on each loop when its turn
  /// comes: `settle` awaits that.
  virtual result<edit_outcome> edit(const nlohmann::json& changes) = 0;
  /// Until all edits so far are in force. Not while it starts or stops.
  virtual loop::task<void> settle() = 0;

  [[nodiscard]] virtual nlohmann::json options(bool with_secrets) const = 0;
  [[nodiscard]] virtual const runtime_options& common() const = 0;
  /// As bound while running, else as configured.
  [[nodiscard]] virtual std::vector<std::string> endpoints() const = 0;
  /// Its endpoints are where it listens, and not where it connects.
  [[nodiscard]] virtual bool listens() const { return true; }
  /// Clients of other machines are served, where its endpoints let them in.
  [[nodiscard]] virtual bool serves_strangers() const { return true; }
  /// Names of the runtimes that it connects to: they are started before it, and stopped after it.
  [[nodiscard]] virtual std::vector<std::string> needs() const { return {}; }
  /// Groups whose runtimes it connects to, as they come and go.
  [[nodiscard]] virtual std::vector<std::string> follows() const { return {}; }
  /// What it shows to those at the other ends of TLS, as an array of objects; empty without TLS. Of
  /// one that does not run, what is in its files now.
  [[nodiscard]] virtual nlohmann::json certificates() const;
  /// What people should know of how it is set up; empty: nothing.
  [[nodiscard]] virtual std::string warning() const { return {}; }
  /// The figures that every runtime has.
  [[nodiscard]] virtual statistics stats() const = 0;
  /// The values of all its figures, in the order of its type's rows.
  [[nodiscard]] virtual std::vector<nlohmann::json> figures() const {
    return values_of(stats(), common_figures());
  }
  /// What is counted of the things inside it: of each of its type's `details` as many as there are.
  [[nodiscard]] virtual std::vector<std::vector<detail>> details() const { return {}; }
  /// Set by a runtime that ended by itself: why. Cleared by `start()`.
  [[nodiscard]] virtual std::string failure_reason() const { return {}; }
  /// It ended by itself because it was to: no failure.
  [[nodiscard]] virtual bool has_done_its_work() const { return false; }

  /// Called on the home loop when a runtime ends by itself.
  std::function<void()> on_failure;
};

/// The second of `now` by the loop's clock, for rate meters.
[[nodiscard]] inline std::uint64_t second_of(loop::time_point now) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
}

}  // namespace strata::runtime
