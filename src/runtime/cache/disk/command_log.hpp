// The append-only log: every change, as a command that repeats it, behind the snapshot that the
// file begins with. What changes during a turn of the loop is one write; with `always`, changes
// that come while the disk works are one group, made safe together.
//
// Positions count bytes given to the log since it was opened.
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

/// When what was written is made safe from a crash of the machine.
enum class sync_policy : std::uint8_t { always, every_second, never };
/// "always", "everysec" or "no".
[[nodiscard]] std::optional<sync_policy> parse_sync_policy(std::string_view text);

class command_log final : public change_listener, private loop::timer {
 public:
  using position = std::uint64_t;

  /// What it tells its owner.
  struct events {
    /// `safe()` has grown.
    std::function<void()> on_safe;
    /// Writing fails, from now on; unless the log is distrusted, it is tried again every second.
    /// Null: it goes on.
    std::function<void(const error*)> on_trouble;
  };

  /// Appends to `file`, which has `size` bytes. Hears of `keyspace`'s changes as long as it lives.
  command_log(loop::loop& loop, keyspace& keyspace, growing_file file, std::uint64_t size,
              events events);
  ~command_log() override;

  void set_policy(sync_policy policy);
  [[nodiscard]] sync_policy policy() const { return policy_; }

  void on_change(unsigned database, std::span<const std::string_view> words) override;

  [[nodiscard]] position appended() const { return appended_; }
  [[nodiscard]] position written() const { return written_; }
  /// What is before it survives a crash.
  [[nodiscard]] position safe() const { return safe_; }
  /// Replies to what was changed must wait until it is safe. While writing fails nobody waits: no
  /// change is taken, and whoever made one that is not safe is disconnected.
  [[nodiscard]] bool holds_replies() const {
    return policy_ == sync_policy::always && safe_ != appended_ && !is_failing_;
  }
  [[nodiscard]] std::uint64_t file_size() const { return base_ + (written_ - begin_); }
  /// Where in the file `position` is.
  [[nodiscard]] std::uint64_t offset_of(position position) const {
    return base_ + (position - begin_);
  }
  [[nodiscard]] const std::string& path() const { return file_.path(); }
  [[nodiscard]] bool is_failing() const { return is_failing_; }
  /// What is in the file may be lost: nothing is written to it, and nothing more becomes safe,
  /// until another file takes its place.
  [[nodiscard]] bool is_distrusted() const { return is_distrusted_; }
  void distrust(const error& why);
  /// A write or a sync has been under way for longer than this.
  [[nodiscard]] bool is_stuck_for(loop::duration duration) const {
    return disk_call_ && loop_.now() - *disk_call_ > duration;
  }

  // --- for a rewrite
  /// The next change tells its database, so that what is from here on can stand behind a snapshot.
  void mark_beginning() { row_.begin_anew(); }
  /// Awaits that nothing is being written; nothing will be until `go_on`.
  [[nodiscard]] loop::task<> pause();
  /// Writes on, to `file` of `size` bytes, which has all that was written so far, safely, and all
  /// that is before `known`, whether that was written or not.
  void go_on(growing_file file, std::uint64_t size, position known);
  void go_on();
  /// Awaits that all is written, and safe. Errors: of the file.
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
  events told_;
  sync_policy policy_ = sync_policy::every_second;
  std::string waiting_;
  change_row row_;
  position begin_ = 0;  // where in positions the file's `base_` is
  position appended_ = 0;
  position written_ = 0;
  position safe_ = 0;
  loop::time_point next_sync_;
  std::optional<loop::time_point> disk_call_;  // when the write or sync under way began
  bool is_paused_ = false;
  bool is_busy_ = false;
  bool is_failing_ = false;
  bool is_distrusted_ = false;
  loop::signal work_;
  loop::signal idle_;
  loop::task_group running_;
};

}  // namespace strata::runtime::cache
