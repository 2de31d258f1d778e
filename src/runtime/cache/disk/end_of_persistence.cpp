// How a cache leaves its data on the disk at its end.
#include <fmt/format.h>

#include "runtime/cache/disk/disk_persistence.hpp"
#include "runtime/cache/engine/engine.hpp"

namespace strata::runtime::cache {

using namespace std::chrono_literals;

namespace {

constexpr auto between_looks = 10ms;  // between checks of `hurried`

}  // namespace

// A snapshot that is being written may lack the last changes: another one follows.
loop::task<result<void>> disk_persistence::save_changes(loop::time_point limit,
                                                        const std::atomic<bool>& hurried) {
  heed_settings();
  if (!has_unsaved_changes()) co_return result<void>{};
  const auto is_over = [&] { return hurried || !is_writing(); };
  bool is_idle = co_await written_.wait(is_over, limit, between_looks) && !hurried;
  if (is_idle && has_unsaved_changes()) {
    saves_next_ = true;
    begin_next();
    is_idle = co_await written_.wait(is_over, limit, between_looks) && !hurried;
  }
  const auto operation = fmt::format("save '{}'", where_.snapshot);
  if (!is_idle) {
    co_return failure(hurried ? errc::canceled : errc::timed_out, operation,
                      hurried ? "a later command ended the wait"
                              : "saving takes longer than the limit for the stop",
                      "allow more time (strata edit NAME --drain-timeout TIME), or add --now to "
                      "discard unsaved changes");
  }
  if (save_error_) co_return std::unexpected(*save_error_);
  co_return result<void>{};
}

bool disk_persistence::has_unsaved_changes() const {
  return !where_.snapshot.empty() && !rules_.empty() &&
         engine_.keys().changes().total() != figures_.changes_at_save;
}

// The stop has already saved, if it was to: this saves the changes since.
loop::task<> disk_persistence::save_last_changes(loop::time_point limit,
                                                 const std::atomic<bool>& hurried) {
  if (ends_unsaved_ || limit <= loop_.now()) co_return;
  const auto saved = co_await save_changes(limit, hurried);
  if (saved) co_return;
  journal_->write(
      level::error,
      fmt::format("{}: {} changes since the last snapshot are lost", describe(saved.error()),
                  engine_.keys().changes().total() - figures_.changes_at_save));
}

loop::task<> disk_persistence::hand_over() {
  if (!where_.log.empty() || where_.handover.empty()) co_return;
  const auto is_idle = [this] { return !is_writing(); };
  const bool has_ended = co_await written_.wait(is_idle);
  (void)has_ended;
  auto file = growing_file::create(loop_, where_.handover + ".new");
  result<void> outcome;
  if (file) {
    outcome = co_await write_snapshot(*file, false);
    if (outcome) outcome = co_await file->finish(where_.handover);
  } else {
    outcome = std::unexpected(file.error());
  }
  if (!outcome) {
    journal_->write(level::error, fmt::format("{}: the next daemon does not get the data",
                                              describe(outcome.error())));
  }
}

loop::task<> disk_persistence::close(loop::time_point limit, const std::atomic<bool>& hurried) {
  co_await save_last_changes(limit, hurried);
  is_closing_ = true;
  running_.cancel();
  if (made_snapshot_ && !holds_something(where_.snapshot).value_or(true)) {
    (void)loop_.files().remove(where_.snapshot);
  }
  if (!log_) co_return;
  result<void> finished;
  if (log_->is_distrusted()) finished = co_await write_log_anew();
  if (finished) finished = co_await log_->finish();
  if (!finished) journal_->write(level::error, describe(finished.error()));
}

std::optional<std::string> disk_persistence::shut_down(std::optional<bool> saves, bool is_forced,
                                                       client& asking) {
  const bool wants = saves.value_or(!rules_.empty());
  if (wants && where_.snapshot.empty() && saves) {
    return "ERR no snapshot file is configured: start the cache with --snapshot FILE";
  }
  ends_unsaved_ = saves == false;
  running_.spawn(shut_down_task(wants && !where_.snapshot.empty(), is_forced, asking.id));
  return {};
}

loop::task<> disk_persistence::shut_down_task(bool saves, bool is_forced, std::uint64_t asking) {
  // What waits for a script that takes long would wait for ever if that never ends.
  const auto is_idle = [this] {
    return !is_writing() || (ends_unsaved_ && engine_.home().interrupted().is_on());
  };
  [[maybe_unused]] bool has_ended = co_await written_.wait(is_idle);
  if (saves) {
    saves_next_ = true;
    begin_next();
    has_ended = co_await written_.wait(is_idle);
  }
  if (!saves || !save_error_ || is_forced) {
    ends_unsaved_ = ends_unsaved_ || (is_forced && save_error_);
    hooks_.on_shut_down();
    co_return;
  }
  ends_unsaved_ = false;
  hooks_.begin_work();
  engine_.home().answer(asking, [](client& waits) {
    waits.reply().error("ERR Errors trying to SHUTDOWN. Check logs.");
  });
  hooks_.end_work();
}

}  // namespace strata::runtime::cache
