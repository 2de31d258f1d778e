#include "runtime/cache/disk/command_log.hpp"

#include <utility>

namespace strata::runtime::cache {

using namespace std::chrono_literals;

std::optional<sync_policy> parse_sync_policy(std::string_view text) {
  if (text == "always") return sync_policy::always;
  if (text == "everysec") return sync_policy::every_second;
  if (text == "no") return sync_policy::never;
  return {};
}

command_log::command_log(loop::loop& loop, keyspace& keyspace, growing_file file,
                         std::uint64_t size, events events)
    : loop_(loop),
      keys_(keyspace),
      file_(std::move(file)),
      base_(size),
      events_(std::move(events)),
      next_sync_(loop.now() + 1s),
      work_(loop),
      idle_(loop) {
  keys_.changes().add_listener(*this);
  running_.spawn(run());
}

command_log::~command_log() {
  running_.cancel();
  keys_.changes().remove_listener(*this);
}

void command_log::set_policy(sync_policy policy) {
  policy_ = policy;
  work_.raise();
}

void command_log::on_change(unsigned database, std::span<const std::string_view> words) {
  const auto before = waiting_.size();
  row_.append(waiting_, database, words);
  appended_ += waiting_.size() - before;
  work_.raise();
}

bool command_log::wants_sync() const {
  if (safe_ == written_) return false;
  switch (policy_) {
    case sync_policy::always: return true;
    case sync_policy::every_second: return loop_.now() >= next_sync_;
    default: return false;
  }
}

loop::task<> command_log::run() {
  for (;;) {
    const bool may_write = !is_paused_ && !is_distrusted_;
    if (!may_write || (waiting_.empty() && !wants_sync())) {
      is_busy_ = false;
      idle_.raise();
      const bool syncs_later = policy_ == sync_policy::every_second && safe_ != written_;
      if (may_write && syncs_later) loop_.arm(*this, next_sync_);
      co_await work_.wait();
      continue;
    }
    is_busy_ = true;
    if (!co_await write_waiting()) {
      co_await loop_.sleep(1s);
    } else if (wants_sync()) {
      co_await make_safe();
    }
  }
}

// Records when the disk call began, so that waiting parts can tell that the disk is slow.
loop::task<result<void>> command_log::time_call(loop::task<result<void>> call) {
  disk_call_ = loop_.now();
  auto outcome = co_await std::move(call);
  disk_call_.reset();
  co_return outcome;
}

loop::task<bool> command_log::write_waiting() {
  if (waiting_.empty()) co_return true;
  auto text = std::exchange(waiting_, {});
  const auto before = file_.appended();
  auto outcome = co_await time_call(file_.append(text));
  const auto taken = file_.appended() - before;
  written_ += taken;
  if (outcome) {
    recover();
    co_return true;
  }
  // The rest goes first the next time.
  waiting_.insert(0, text, taken);
  fail(outcome.error());
  co_return false;
}

// After a failed sync the kernel may have dropped data that it could not write, and the next sync
// would report success: so the file is given up.
loop::task<> command_log::make_safe() {
  const auto reached = written_;
  is_syncing_ = true;
  auto outcome = co_await time_call(file_.sync());
  is_syncing_ = false;
  next_sync_ = loop_.now() + 1s;
  if (!outcome) {
    distrust(outcome.error());
    co_return;
  }
  safe_ = reached;
  events_.on_safe();
}

void command_log::distrust(const error& why) {
  is_distrusted_ = true;
  fail(why);
}

void command_log::fail(const error& why) {
  if (std::exchange(is_failing_, true)) return;
  events_.on_trouble(&why);
}

void command_log::recover() {
  if (!std::exchange(is_failing_, false)) return;
  events_.on_trouble(nullptr);
}

loop::task<> command_log::pause() {
  is_paused_ = true;
  while (is_busy_) co_await idle_.wait();
}

void command_log::go_on() {
  is_paused_ = false;
  work_.raise();
}

void command_log::go_on(growing_file file, std::uint64_t size, position known) {
  if (known > written_) {
    waiting_.erase(0, known - written_);
    written_ = known;
  }
  file_ = std::move(file);
  base_ = size;
  begin_ = written_;
  safe_ = written_;
  is_distrusted_ = false;
  recover();
  events_.on_safe();
  go_on();
}

loop::task<result<void>> command_log::finish() {
  co_await pause();
  auto text = std::exchange(waiting_, {});
  auto outcome = co_await file_.append(text);
  if (outcome) outcome = co_await file_.sync();
  if (!outcome) co_return outcome;
  written_ = safe_ = appended_;
  events_.on_safe();
  co_return outcome;
}

}  // namespace strata::runtime::cache
