// How bodies start and end: by an order, with their owner, or by themselves.
#include <spdlog/spdlog.h>

#include <utility>

#include "daemon/supervisor/collisions.hpp"
#include "daemon/supervisor/reconciler.hpp"
#include "daemon/supervisor/relations.hpp"
#include "runtime/data_saver.hpp"

namespace strata::daemon {

namespace {

// Between restarts of a runtime that fails repeatedly.
constexpr double first_restart_pause_s = 0.2;
constexpr double longest_restart_pause_s = 30;
constexpr double long_run_s = 10;  // a failure after this time counts as the first one

// A requested start that another request, or the daemon's end, has cancelled.
std::unexpected<error> ended_while_starting(const entry& starting) {
  return failure(errc::conflict, "start '" + starting.name() + "'",
                 std::string("it was ") + (starting.removed ? "removed" : "stopped") +
                     " while it was starting",
                 "if this was not intended, start it again");
}

}  // namespace

loop::task<result<runtime::edit_outcome>> reconciler::apply_options(entry_ref subject) {
  auto edited = subject->body->edit(subject->unapplied);
  if (!edited) co_return edited;
  std::string keys;
  for (const auto& [key, value] : subject->unapplied.items()) {
    keys += (keys.empty() ? "" : ", ") + key;
  }
  subject->unapplied = nlohmann::json::object();
  co_await subject->body->wait_until_applied();
  if (!keys.empty()) report(*subject, "edited", keys);
  co_return edited;
}

void reconciler::set_failed(entry& subject, const error& why, bool is_retry) {
  subject.state = run_state::failed;
  const auto before = std::exchange(subject.reason, describe(why));
  if (!is_retry || subject.reason != before) report(subject, "failed", subject.reason);
}

loop::task<result<void>> reconciler::start_body(entry_ref subject, manner conduct) {
  const auto operation = "start '" + subject->name() + "'";
  if (subject->ended) co_return failure(errc::conflict, operation, "the daemon is stopping");
  const auto planned = ++subject->changes;
  subject->next_start.reset();
  auto started = check_frames_are_for_one(list_.entries(), *subject);
  if (started) {
    auto tried = co_await start_with_edits(subject);
    started = std::move(tried);
    if (subject->removed) co_return ended_while_starting(*subject);
    // While edits were let in, other operations may have run too.
    const bool is_void = subject->changes != planned;
    if (is_void && subject->state == run_state::running) co_return result<void>{};
    if (is_void || subject->ended) co_return ended_while_starting(*subject);
  }
  subject->is_starting = false;
  if (!started) {
    auto why = started.error();
    if (why.code == errc::canceled) {
      why = ended_while_starting(*subject).error();
    } else {
      explain_conflict(list_.entries(), *subject, why);
      why.operation = operation + ": cannot " + why.operation;
    }
    set_failed(*subject, why, conduct.is_retry);
    if (!conduct.leaves_failure) return_later(subject);
    co_return std::unexpected(why);
  }
  subject->state = run_state::running;
  subject->reason.clear();
  subject->started = home_.now();
  std::string where;
  for (const auto& each : subject->body->endpoints()) where += (where.empty() ? "" : ", ") + each;
  report(*subject, "started", where);
  co_return started;
}

// An edit makes a start give up what it waits for, such as a host that does not answer, because the
// edit may be the fix. Then the start is repeated with the edited options.
loop::task<result<void>> reconciler::start_with_edits(entry_ref subject) {
  for (;;) {
    subject->is_starting = true;
    auto started = co_await subject->body->start();
    subject->is_starting = started.has_value();
    if (started || subject->edits == 0) co_return started;
    const auto planned = subject->changes;
    co_await subject->lock.let_others();
    if (subject->removed || subject->ended || subject->changes != planned) co_return started;
  }
}

loop::task<> reconciler::end_body(entry_ref subject, loop::time_point limit) {
  subject->is_stopping = true;
  co_await subject->body->stop(limit);
  subject->is_stopping = false;
}

loop::task<result<void>> reconciler::save_data(entry_ref subject, std::string operation,
                                               loop::time_point limit) {
  auto* const saver = dynamic_cast<runtime::data_saver*>(subject->body.get());
  if (saver == nullptr || subject->state != run_state::running || limit <= home_.now()) {
    co_return result<void>{};
  }
  subject->gives_up_saving = false;
  subject->is_stopping = true;
  auto saved = co_await saver->save(limit, subject->gives_up_saving);
  subject->is_stopping = false;
  if (saved) co_return saved;
  auto& failed = saved.error();
  failed.operation = operation + ", which keeps running: cannot " + failed.operation;
  if (failed.remedy.empty()) failed.remedy = "add --now to discard unsaved data";
  co_return saved;
}

loop::task<> reconciler::stop_body(entry_ref subject, loop::time_point limit) {
  // Collected first: runtimes that need it may end with it.
  std::string needed;
  for (const auto& each : running_that_need(list_.entries(), subject->name())) {
    needed += (needed.empty() ? "needed by " : ", ") + each;
  }
  if (subject->state == run_state::running) co_await end_body(subject, limit);
  subject->state = run_state::stopped;
  subject->reason.clear();
  report(*subject, "stopped", needed);
}

loop::task<> reconciler::drop(entry_ref subject, loop::time_point limit) {
  ++subject->changes;
  subject->next_start.reset();
  if (subject->state == run_state::running) co_await end_body(subject, limit);
  subject->state = run_state::stopped;
  subject->removed = true;
  // From now on no runtime can become its child, and another runtime may take its name.
  const auto children = children_of(list_.entries(), subject->name());
  list_.erase(subject->name());
  report(*subject, "removed");
  subject->log->end();
  subject->messages->end();
  subject->tap->end();
  co_await end_children(subject->name(), children, true);
}

loop::task<result<void>> reconciler::restart(entry_ref subject, loop::time_point limit) {
  if (subject->state == run_state::running) {
    // A running runtime is better than one that cannot start again.
    auto good = co_await subject->body->rehearse();
    if (!good) {
      auto why = good.error();
      why.operation =
          "restart '" + subject->name() + "', which runs on unchanged: cannot " + why.operation;
      co_return std::unexpected(why);
    }
    auto saved = co_await save_data(subject, "restart '" + subject->name() + "'", limit);
    if (!saved) co_return saved;
    co_await end_body(subject, limit);
    subject->state = run_state::stopped;
    report(*subject, "stopped", "to be restarted");
  }
  auto started = co_await start(subject);
  co_return started;
}

loop::task<> reconciler::halt(entry_ref subject, loop::time_point limit) {
  if (subject->state == run_state::running) {
    // The daemon ends even if data cannot be saved.
    const auto saved = co_await save_data(subject, "save its data", limit);
    if (!saved) subject->log->write(runtime::level::error, describe(saved.error()));
    co_await end_body(subject, limit);
    subject->log->write(runtime::level::info, "stopped: the daemon ends");
  }
  subject->state = run_state::stopped;
  if (subject->has_write_pending && !subject->ended) {
    const auto written = co_await records_.write(subject, subject->present_record());
    if (!written) spdlog::error("{}", describe(written.error()));
  }
  subject->ended = true;
}

loop::task<> reconciler::end_children(std::string text, std::vector<entry_ref> children,
                                      bool is_gone) {
  for (const auto& child : children) {
    const auto guard = co_await child->lock.acquire();
    // Meanwhile the child may have been removed, or have got another owner.
    if (child->removed || child->body->common().owner != text) continue;
    if (child->body->common().on_parent_stop == "remove") {
      const auto removed = co_await remove(child, loop::time_point::max());
      if (removed) continue;
    } else if (child->state == run_state::running) {
      (void)co_await stop(child, loop::time_point::max());
    }
    if (!is_gone) continue;
    (void)child->body->edit({{"owner", ""}});
    co_await records_.write_in_time(child);
  }
}

// Cleans up after a runtime that ended by itself, and keeps the reason.
loop::task<> reconciler::end_failed(entry_ref subject) {
  const operation_count::member counted(operations_);
  const auto guard = co_await subject->lock.acquire();
  if (subject->removed || subject->state != run_state::running) co_return;
  // It was restarted while this waited for the lock: the end was that of the previous run.
  if (subject->body->failure_reason().empty()) co_return;
  co_await end_body(subject, loop::time_point::max());
  ++subject->changes;
  if (subject->uptime_s(home_.now()) > long_run_s) subject->restarts.succeeded();
  subject->state = run_state::failed;
  subject->reason = subject->body->failure_reason();
  report(*subject, "failed", subject->reason);
  co_await end_children(subject->name(), children_of(list_.entries(), subject->name()), false);
  return_later(subject);
}

bool reconciler::comes_back(const entry& subject) const {
  const auto& common = subject.body->common();
  if (is_ending_ || subject.removed || !subject.desired.running ||
      subject.state != run_state::failed || common.restart == "no" ||
      subject.body->has_spent_its_restarts()) {
    return false;
  }
  return common.restart == "always" || !subject.body->has_done_its_work();
}

bool reconciler::has_tries_left(const entry& subject) {
  const auto limit = subject.body->common().restart_limit;
  return limit == 0 || subject.restarts.failures() < limit;
}

void reconciler::return_later(const entry_ref& subject) {
  if (!subject->has_return_pending && comes_back(*subject)) tasks_.spawn(come_back(subject));
}

loop::task<> reconciler::come_back(entry_ref subject) {
  subject->has_return_pending = true;
  while (comes_back(*subject) && has_tries_left(*subject)) {
    const auto planned = subject->changes;
    const auto pause = subject->restarts.next(first_restart_pause_s, longest_restart_pause_s);
    subject->next_start = home_.now() + pause;
    co_await home_.sleep(pause);
    const operation_count::member counted(operations_);
    const auto guard = co_await subject->lock.acquire();
    // An attempt by others in the meantime starts another pause.
    if (subject->changes != planned || !comes_back(*subject)) continue;
    const manner conduct{.is_retry = true, .leaves_failure = true};
    (void)co_await reconcile(subject, conduct);
  }
  subject->has_return_pending = false;
}

void reconciler::hurry(entry& subject) {
  subject.gives_up_saving = true;
  subject.body->hurry();
}

void reconciler::hurry_holder(const entry_ref& subject, loop::time_point limit) {
  if (subject->is_starting || limit <= home_.now()) {
    hurry(*subject);
  } else if (limit != loop::time_point::max()) {
    tasks_.spawn(hurry_at(subject, limit));
  }
}

loop::task<> reconciler::hurry_at(entry_ref subject, loop::time_point limit) {
  const auto planned = subject->changes;
  co_await home_.sleep(limit - home_.now());
  if (subject->changes == planned) hurry(*subject);
}

void reconciler::begin_end() {
  is_ending_ = true;
  records_.end();
}

}  // namespace strata::daemon
