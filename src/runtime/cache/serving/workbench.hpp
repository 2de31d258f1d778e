// The common tools of the sessions on one loop, which use them one after another: the engine, its
// time, memory for requests and replies, limits and counters. A `work_turn` is held during use.
//
// At the end of a loop's turn, hooks run in the order in which they were registered: a leader's and
// a log's by the first change, this one's (which passes on the replies that are still in its
// memory) by the first work, a session's when it received a push or may continue. None relies on
// that order: each passes bytes to an outbox, or to the landing for another loop, which then
// registers a hook of its own behind all existing ones, and sends what it has by that time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "loop/loop.hpp"
#include "runtime/cache/disk/disk_persistence.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/kept_reply.hpp"
#include "runtime/cache/options.hpp"
#include "runtime/cache/serving/figures.hpp"
#include "runtime/cache/serving/reply_arena.hpp"
#include "runtime/cache/serving/session_link.hpp"
#include "runtime/counters.hpp"
#include "runtime/rate_limiter.hpp"
#include "serve/memory_watch.hpp"

namespace strata::runtime::cache {

class session;

class workbench final : private loop::turn_end_hook {
 public:
  /// `on_deadline` is called after work while the engine has something to do at a certain time;
  /// `look` is for `memory()`.
  workbench(loop::loop& loop, const cache_options& options, std::function<void()> on_deadline,
            std::function<serve::memory_watch::view()> look);

  [[nodiscard]] loop::loop& loop() { return loop_; }
  [[nodiscard]] engine& data() { return data_; }
  [[nodiscard]] const cache_options& options() const { return data_.home().settings().options; }

  // --- memory for one piece of work
  [[nodiscard]] reply_arena& replies() { return replies_; }
  [[nodiscard]] no_reply& nowhere() { return nowhere_; }
  [[nodiscard]] request_batch& batch() { return batch_; }

  // --- limits
  [[nodiscard]] proto::request_limits limits(bool trusted) const;
  [[nodiscard]] const output_limits& buffer_limits() const {
    return data_.home().settings().output_buffer_limits;
  }
  [[nodiscard]] bool speaks_only_resp() const { return options().resp; }
  [[nodiscard]] std::uint64_t rate_limit() const { return options().rate_limit; }
  /// Whether commands may have to wait for the rate of their connection, or of all together.
  [[nodiscard]] bool limits_rates() const {
    return options().rate_limit != 0 || options().global_rate_limit != 0;
  }
  /// How long until a command of any connection is admitted.
  [[nodiscard]] std::int64_t all_admitted_in_ns(std::int64_t now_ns) const {
    return admitted_in_ns(all_due_, now_ns, options().global_rate_limit);
  }
  /// Counts a command that is admitted now.
  void admit_for_all(std::int64_t now_ns) {
    (void)admit(all_due_, now_ns, options().global_rate_limit);
  }

  /// Returns the watch, to be notified of growing memory and of a changed limit.
  [[nodiscard]] serve::memory_watch& memory() { return memory_; }

  // --- replies that wait for the log
  /// Sets the persistence; called once, before the first session.
  void rely_on(const disk_persistence& disk) { disk_ = &disk; }
  /// Returns the log if replies must wait until their changes are safe in it; otherwise null.
  [[nodiscard]] const command_log* strict_log() const {
    const auto* const log = disk_->log();
    return log != nullptr && log->policy() == sync_policy::always ? log : nullptr;
  }
  /// Records that `session` has replies that wait for the log.
  void hold(session& session) {
    if (held_.empty() || held_.back() != &session) held_.push_back(&session);
  }
  void forget(session& session) { std::erase(held_, &session); }
  /// Called when more of the log is safe.
  void release_held();

  // --- counting
  [[nodiscard]] counters& count() { return counters_; }
  /// Receives and sends of connections; `threaded` are those of connections on other loops.
  struct transfers {
    std::uint64_t reads = 0;
    std::uint64_t threaded_reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t threaded_writes = 0;
  };
  [[nodiscard]] transfers& count_transfers() { return transfers_; }
  void count_in(std::uint64_t messages);
  void count_out(std::uint64_t messages, std::uint64_t bytes);
  void count_disk_trouble(bool has_trouble) { key_figures_.disk_fails.set(has_trouble ? 1 : 0); }
  void show_figures() { key_figures_.copy_from(data_.keys()); }
  /// May be read from any thread.
  [[nodiscard]] const counters& counted() const { return counters_; }
  [[nodiscard]] const key_figures& counted_keys() const { return key_figures_; }

  // --- around every execution
  /// Sets the time, which stands still while a script is interrupted, and charges memory to this
  /// cache.
  void begin_work();
  void end_work();
  /// Called periodically, since the machine's date may have been changed.
  void set_date();
  /// Returns the loop's time, in milliseconds.
  [[nodiscard]] std::int64_t loop_ms() const { return loop_us() / 1000; }

 private:
  void on_turn_end() override;
  [[nodiscard]] service_figures service() const;
  [[nodiscard]] std::int64_t loop_us() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(loop_.now().time_since_epoch())
        .count();
  }

  loop::loop& loop_;
  std::int64_t all_due_ = 0;  // of the rate of all connections together
  std::function<void()> on_deadline_;
  std::unique_ptr<engine_clock> clock_;
  std::int64_t date_offset_us_ = 0;  // the date minus the loop's time
  counters counters_;
  transfers transfers_;
  key_figures key_figures_;  // as of the last turn's end
  reply_arena replies_;
  no_reply nowhere_;
  request_batch batch_;
  engine data_;
  const disk_persistence* disk_ = nullptr;
  std::vector<session*> held_;
  std::optional<charging> charging_;
  serve::memory_watch memory_;
};

/// The exclusive use of the workbench.
class work_turn {
 public:
  explicit work_turn(workbench& workbench) : at_(workbench) { at_.begin_work(); }
  ~work_turn() { at_.end_work(); }
  work_turn(const work_turn&) = delete;
  work_turn& operator=(const work_turn&) = delete;

 private:
  workbench& at_;
};

}  // namespace strata::runtime::cache
