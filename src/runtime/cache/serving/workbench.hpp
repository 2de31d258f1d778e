// What the sessions of one loop work with, one after the other: the engine, the time by which it
// works, memory for requests and replies, limits and counters. A `work_turn` is held meanwhile.
//
// At the end of a loop's turn hooks run in the order in which they were registered: a leader's and
// a log's by the first change, this one's (which hands over the replies that are still in its
// memory) by the first work, a session's when something was said to it or it may go on. None relies
// on that order: each gives bytes to an outbox, which registers a hook of its own then, behind all
// that are there, and sends what it has by that time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "loop/loop.hpp"
#include "proto/resp/resp_request.hpp"
#include "runtime/cache/disk/disk_persistence.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/kept_reply.hpp"
#include "runtime/cache/options.hpp"
#include "runtime/cache/serving/figures.hpp"
#include "runtime/cache/serving/reply_arena.hpp"
#include "runtime/counters.hpp"
#include "serve/memory_watch.hpp"

namespace strata::runtime::cache {

class session;

/// Requests read from one connection and not executed yet.
struct request_batch {
  static constexpr std::size_t most = 32;
  struct request {
    std::size_t first;  ///< of its words
    std::size_t count;
    const command* what;
    std::uint64_t hash;  ///< of its first key
    std::size_t begin;   ///< where it begins in what was read
    std::size_t end;     ///< where the next does
  };
  std::vector<std::string_view> words;
  std::vector<request> requests;
};

class workbench final : private loop::turn_end_hook {
 public:
  /// `on_deadline` is called after work while the engine has something to do at a certain time;
  /// `look` is `memory()`'s.
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

  /// To be told of what comes and of what is to go.
  [[nodiscard]] serve::memory_watch& memory() { return memory_; }

  // --- replies that wait for the log
  /// What keeps the data; to be called once, before the first session.
  void rely_on(const disk_persistence& disk) { disk_ = &disk; }
  /// The log, if replies must wait until what they speak of is safe in it; else null.
  [[nodiscard]] const command_log* strict_log() const {
    const auto* const log = disk_->log();
    return log != nullptr && log->policy() == sync_policy::always ? log : nullptr;
  }
  /// `session` has replies that wait for the log, or none any more.
  void hold(session& session) {
    if (held_.empty() || held_.back() != &session) held_.push_back(&session);
  }
  void forget(session& session) { std::erase(held_, &session); }
  /// The log is safe further on.
  void release_held();

  // --- counting
  [[nodiscard]] counters& count() { return counters_; }
  void count_in(std::uint64_t messages);
  void count_out(std::uint64_t messages, std::uint64_t bytes);
  void count_disk_trouble(bool has_trouble) { key_figures_.disk_fails.set(has_trouble ? 1 : 0); }
  void show_figures() { key_figures_.copy_from(data_.keys()); }
  /// For reading from any thread.
  [[nodiscard]] const counters& counted() const { return counters_; }
  [[nodiscard]] const key_figures& counted_keys() const { return key_figures_; }

  // --- around every execution
  /// The time is set, memory is charged to this cache.
  void begin_work();
  void end_work();
  /// To be called now and then: the machine's date may have been changed.
  void set_date();
  /// The loop's time, in milliseconds.
  [[nodiscard]] std::int64_t loop_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(loop_.now().time_since_epoch())
        .count();
  }

 private:
  void on_turn_end() override;
  [[nodiscard]] service_figures service() const;

  loop::loop& loop_;
  std::function<void()> on_deadline_;
  std::unique_ptr<engine_clock> clock_;
  std::int64_t date_offset_ms_ = 0;  // from the loop's time to the date
  counters counters_;
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

/// Somebody works at the bench, and nobody else.
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
