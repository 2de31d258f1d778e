// The append-only log: every change, as a command that repeats it, behind the snapshot at the
// beginning of the file. The changes of one turn of the loop are one write; with `always`, changes
// that arrive while the disk works form a group and are made safe together.
//
// Positions count bytes appended to the log since it was opened.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "loop/signal.hpp"
#include "loop/task_group.hpp"
#include "runtime/cache/disk/growing_file.hpp"
#include "runtime/cache/disk/replay.hpp"
#include "runtime/cache/engine/keyspace.hpp"

namespace strata::runtime::cache {

/// When written data is made safe from a crash of the machine.
enum class sync_policy : std::uint8_t { always, every_second, never };
/// Parses "always", "everysec" or "no".
[[nodiscard]] std::optional<sync_policy> parse_sync_policy(std::string_view text);

class command_log final : public change_listener, private loop::timer {
 public:
  using position = std::uint64_t;

  /// Callbacks to the owner.
  struct events {
    /// Called when `safe()` has grown.
    std::function<void()> on_safe;
    /// Called when writing begins to fail; unless the log is distrusted, it is retried every
    /// second. Called with null when writing works again.
    std::function<void(const error*)> on_trouble;
  };

  /// Appends to `file`, which has `size` bytes. Receives `keyspace`'s changes as long as it lives.
  command_log(loop::loop& loop, keyspace& keyspace, growing_file file, std::uint64_t size,
              events events);
  ~command_log() override;

  void set_policy(sync_policy policy);
  [[nodiscard]] sync_policy policy() const { return policy_; }

  void on_change(unsigned database, std::span<const std::string_view> words) override;

  [[nodiscard]] position appended() const { return appended_; }
  [[nodiscard]] position written() const { return written_; }
  /// Returns the position before which everything survives a crash.
  [[nodiscard]] position safe() const { return safe_; }
  /// Reports whether replies to changes must wait until the changes are safe. While writing fails,
  /// no reply waits: changes are refused, and clients whose changes are not safe are disconnected.
  [[nodiscard]] bool holds_replies() const {
    return policy_ == sync_policy::always && safe_ != appended_ && !is_failing_;
  }
  [[nodiscard]] std::uint64_t file_size() const { return base_ + (written_ - begin_); }
  /// Returns the offset of `position` in the file.
  [[nodiscard]] std::uint64_t offset_of(position position) const {
    return base_ + (position - begin_);
  }
  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] bool is_failing() const { return is_failing_; }
  /// Reports whether the file's contents may be lost: nothing is written to it, and nothing more
  /// becomes safe, until another file replaces it.
  [[nodiscard]] bool is_distrusted() const { return is_distrusted_; }
  void distrust(const error& why);
  [[nodiscard]] bool is_syncing() const { return is_syncing_; }
  /// Reports whether a write or a sync has been pending for longer than `duration`.
  [[nodiscard]] bool is_stuck_for(loop::duration duration) const {
    return disk_call_ && loop_.now() - *disk_call_ > duration;
  }

  // --- for a rewrite
  /// Makes the next change begin with its database, so that the changes from here on can follow a
  /// snapshot.
  void mark_beginning() { row_.begin_anew(); }
  /// Waits until nothing is being written; nothing will be written until `go_on`.
  [[nodiscard]] loop::task<> pause();
  /// Continues writing, to `file` of `size` bytes, which safely holds everything written so far,
  /// and everything before `known`, whether written or not.
  void go_on(growing_file file, std::uint64_t size, position known);
  void go_on();
  /// Waits until everything is written and safe. Errors: those of the file.
  [[nodiscard]] loop::task<result<void>> finish();

 private:
  void on_timer() override { work_.raise(); }
  loop::task<> run();
  loop::task<bool> write_waiting();
  loop::task<> make_safe();
  loop::task<result<void>> time_call(loop::task<result<void>> call);
  [[nodiscard]] bool wants_sync() const;
  void fail(const error& why);
  void recover();

  loop::loop& loop_;
  keyspace& keys_;
  growing_file file_;
  std::uint64_t base_;
  events events_;
  sync_policy policy_ = sync_policy::every_second;
  std::string waiting_;
  change_row row_;
  position begin_ = 0;  // the position of the file's offset `base_`
  position appended_ = 0;
  position written_ = 0;
  position safe_ = 0;
  loop::time_point next_sync_;
  std::optional<loop::time_point> disk_call_;  // when the pending write or sync began
  bool is_syncing_ = false;
  bool is_paused_ = false;
  bool is_busy_ = false;
  bool is_failing_ = false;
  bool is_distrusted_ = false;
  loop::signal work_;
  loop::signal idle_;
  loop::task_group running_;
};

}  // namespace strata::runtime::cache
