// A cache's data on the disk: loading at the start, the append-only log, snapshots, and rewriting
// the log. One snapshot is written at a time.
//
// The log is one file: a snapshot, then commands. Redis calls it an append-only file with an RDB
// preamble; a file that is only a snapshot is a log without commands.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loop/task_group.hpp"
#include "runtime/cache/disk/command_log.hpp"
#include "runtime/cache/disk/snapshot_turn.hpp"
#include "runtime/cache/engine/persistence.hpp"
#include "runtime/cache/engine/save_rules.hpp"
#include "runtime/journal.hpp"

namespace strata::runtime::cache {

class disk_persistence final : public persistence {
 public:
  struct places {
    std::string log;       ///< the append-only log's file; empty if none
    std::string snapshot;  ///< the file for SAVE; empty if none
    std::string handover;  ///< where another daemon may have left the data; empty if nowhere
  };
  /// Callbacks. `begin_work` and `end_work` enclose work on the data.
  struct hooks {
    std::function<void()> begin_work;
    std::function<void()> end_work;
    /// Called when replies that waited for the log may be sent, or never will be.
    std::function<void()> on_safe;
    /// Called with the reason why changes are refused, or would be lost in a crash; empty if
    /// neither is so.
    std::function<void(const std::string& why)> on_trouble;
    /// Called when SHUTDOWN ends the cache.
    std::function<void()> on_shut_down;
  };

  disk_persistence(loop::loop& loop, engine& engine, snapshot_turn& turn, places places,
                   hooks hooks, std::shared_ptr<journal> log);
  ~disk_persistence();

  /// Loads the existing files into the empty engine, and opens the log. Errors: those of the files;
  /// malformed for a file that is damaged, except for one that ends too early, which is repaired.
  [[nodiscard]] loop::task<result<void>> open();
  /// Writes a snapshot if there are rules for it and changes since the last one. Errors: those of
  /// the file; timed_out at `limit`, canceled when `hurried` is set.
  [[nodiscard]] loop::task<result<void>> save_changes(loop::time_point limit,
                                                      const std::atomic<bool>& hurried);
  /// Leaves the data for another daemon, unless the log has it. A failure is logged.
  [[nodiscard]] loop::task<> hand_over();
  /// Waits until all changes are on the disk; for an orderly end. Waits for a snapshot until
  /// `limit`, or until `hurried` is set; if the limit has passed, writes none.
  [[nodiscard]] loop::task<> close(loop::time_point limit, const std::atomic<bool>& hurried);

  /// Returns null if there is none.
  [[nodiscard]] const command_log* log() const { return log_.get(); }
  /// Reports whether a client has ended the cache by SHUTDOWN NOSAVE.
  [[nodiscard]] bool ends_unsaved() const { return ends_unsaved_; }
  /// Called periodically: applies the engine's settings, and begins due work.
  void tick();

  std::optional<std::string> save(bool later, client* waits) override;
  std::string rewrite() override;
  std::optional<std::string> shut_down(std::optional<bool> saves, bool is_forced,
                                       client& asking) override;
  [[nodiscard]] persistence_figures figures() const override;

 private:
  loop::task<result<void>> load(const std::string& path);
  loop::task<result<std::size_t>> load_snapshot(std::string_view text, const std::string& path);
  loop::task<result<std::size_t>> load_commands(std::string_view text, std::size_t start,
                                                const std::string& path);
  loop::task<result<void>> open_log();
  result<void> mend(const std::string& path, std::size_t whole, std::size_t size);

  loop::task<> save_task();
  loop::task<> rewrite_task();
  loop::task<result<void>> write_snapshot(growing_file& file, bool is_log_base);
  loop::task<result<void>> save_snapshot();
  loop::task<result<void>> put_in_place(growing_file& file, const std::string& path,
                                        loop::file_claim& claim);
  result<void> claim_files();
  result<bool> holds_something(const std::string& path);
  result<std::string> find_source();
  loop::task<result<void>> write_log_anew();
  loop::task<result<void>> catch_up(growing_file& file, command_log::position position);
  loop::task<result<void>> copy_log(growing_file& file, command_log::position position,
                                    command_log::position end);
  loop::task<> shut_down_task(bool saves, bool is_forced, std::uint64_t asking);
  loop::task<> save_last_changes(loop::time_point limit, const std::atomic<bool>& hurried);
  [[nodiscard]] bool has_unsaved_changes() const;
  void heed_settings();
  [[nodiscard]] bool should_save() const;
  [[nodiscard]] bool should_rewrite() const;
  void begin_next();
  void on_log_trouble(const error* why);
  void refuse_if_saving_fails();
  void report_trouble();
  void check_slowness();
  void answer_waiting(const result<void>& outcome);
  void end_writing(bool& which);
  [[nodiscard]] bool is_writing() const { return figures_.is_saving || figures_.is_rewriting; }

  loop::loop& loop_;
  engine& engine_;
  snapshot_turn& turn_;
  places where_;
  hooks hooks_;
  std::shared_ptr<journal> journal_;
  // A file is claimed before it is read, and its replacement is claimed before it is renamed.
  loop::file_claim log_claim_;
  loop::file_claim snapshot_claim_;
  bool made_snapshot_ = false;  // there was none before it was claimed
  std::unique_ptr<command_log> log_;
  std::string rules_text_;
  save_rules rules_;
  persistence_figures figures_;
  std::int64_t began_ms_ = 0;
  std::int64_t retry_at_ms_ = 0;
  bool saves_next_ = false;
  bool rewrites_next_ = false;
  bool is_closing_ = false;
  bool ends_unsaved_ = false;           // a client has sent SHUTDOWN NOSAVE
  std::optional<error> save_error_;     // of the last snapshot
  std::optional<error> rewrite_error_;  // of the last rewriting of the log
  std::string log_trouble_;             // why the log cannot be written at present
  bool is_slow_ = false;                // a write or sync of the log is taking long
  std::string reported_trouble_;
  std::vector<std::uint64_t> waiting_;  // ids of clients waiting for the snapshot
  loop::condition written_;             // notified when a snapshot or a new log is written
  loop::task_group running_;
};

}  // namespace strata::runtime::cache
