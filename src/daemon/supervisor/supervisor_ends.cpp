// How what runs comes to an end: by an order, with its owner, or by itself.
#include <spdlog/spdlog.h>

#include "daemon/supervisor/supervisor.hpp"
#include "runtime/data_saver.hpp"

namespace strata::daemon {

namespace {

// Between restarts of one that fails again and again.
constexpr double first_pause_s = 0.2;
constexpr double longest_pause_s = 30;
constexpr double long_run_s = 10;  // after which a failure counts as the first one

}  // namespace

loop::task<> supervisor::end_body(entry_ref subject, loop::time_point limit) {
  subject->is_stopping = true;
  co_await subject->body->stop(limit);
  subject->is_stopping = false;
}

loop::task<result<void>> supervisor::save_body(entry_ref subject, std::string operation,
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
  failed.operation = operation + ", which runs on: cannot " + failed.operation;
  if (failed.remedy.empty()) failed.remedy = "add --now to lose what is not saved";
  co_return saved;
}

loop::task<result<void>> supervisor::locked_stop(entry_ref entry, loop::time_point limit) {
  // Asked first: those that need it may end when it does.
  std::string needed;
  for (const auto& each : running_that_need(entries_, entry->name())) {
    needed += (needed.empty() ? "needed by " : ", ") + each;
  }
  ++entry->changes;
  entry->next_start.reset();
  auto saved = co_await save_body(entry, "stop '" + entry->name() + "'", limit);
  if (!saved) co_return saved;
  if (entry->state == run_state::running) co_await end_body(entry, limit);
  entry->state = run_state::stopped;
  entry->reason.clear();
  entry->wanted.running = false;
  tell(*entry, "stopped", needed);
  saved = co_await save(entry);
  if (!saved) {
    auto& why = saved.error();
    why.operation =
        "remember that '" + entry->name() + "' is stopped, which it is: cannot " + why.operation;
    why.reason += "; the next daemon will start it";
  }
  co_await end_children(entry->name(), children_of(entries_, entry->name()), false);
  co_return saved;
}

loop::task<result<void>> supervisor::locked_remove(entry_ref entry, loop::time_point limit) {
  if (entry->removed) co_return not_found(entry->name());
  auto saved = co_await save_body(entry, "remove '" + entry->name() + "'", limit);
  if (!saved) co_return saved;
  // The name stays taken until its record is gone: another runtime's must not be removed.
  auto gone = co_await store_->remove(entry->name());
  if (!gone) co_return gone;
  ++entry->changes;
  entry->next_start.reset();
  if (entry->state == run_state::running) co_await end_body(entry, limit);
  entry->state = run_state::stopped;
  entry->removed = true;
  // From now on nobody can become its child, and its name may be another runtime's.
  const auto children = children_of(entries_, entry->name());
  entries_.erase(entry->name());
  tell(*entry, "removed");
  entry->log->end();
  entry->messages->end();
  co_await end_children(entry->name(), children, true);
  co_return result<void>{};
}

loop::task<> supervisor::end_children(std::string text, std::vector<entry_ref> children,
                                      bool is_gone) {
  for (const auto& child : children) {
    const auto guard = co_await child->lock.acquire();
    // While this waited, the child may have gone, or another may have become its owner.
    if (child->removed || child->body->common().owner != text) continue;
    if (child->body->common().on_parent_stop == "remove") {
      const auto removed = co_await locked_remove(child, loop::time_point::max());
      if (removed) continue;
    } else if (child->state == run_state::running) {
      (void)co_await locked_stop(child, loop::time_point::max());
    }
    if (!is_gone) continue;
    (void)child->body->edit({{"owner", ""}});
    const auto saved = co_await save(child);
    if (!saved) spdlog::error("{}", describe(saved.error()));
  }
}

// A runtime ended by itself: what is left of it is cleared up, and the reason kept.
loop::task<> supervisor::end_failed(entry_ref entry) {
  const under_way counted(*this);
  const auto guard = co_await entry->lock.acquire();
  if (entry->removed || entry->state != run_state::running) co_return;
  // Started again while this waited for the lock: the end was that of the run before.
  if (entry->body->failure_reason().empty()) co_return;
  co_await end_body(entry, loop::time_point::max());
  ++entry->changes;
  if (entry->uptime_s(home_.now()) > long_run_s) entry->restarts.succeeded();
  entry->state = run_state::failed;
  entry->reason = entry->body->failure_reason();
  tell(*entry, "failed", entry->reason);
  co_await end_children(entry->name(), children_of(entries_, entry->name()), false);
  if (comes_back(*entry)) endings_.spawn(come_back(entry));
}

bool supervisor::comes_back(const entry& entry) const {
  const auto& wanted = entry.body->common();
  if (stopping_ || entry.removed || entry.state != run_state::failed || wanted.restart == "no") {
    return false;
  }
  return wanted.restart == "always" || !entry.body->has_done_its_work();
}

loop::task<> supervisor::come_back(entry_ref entry) {
  const auto has_tries_left = [&entry] {
    const auto limit = entry->body->common().restart_limit;
    return limit == 0 || entry->restarts.failures() < limit;
  };
  while (comes_back(*entry) && has_tries_left()) {
    const auto planned = entry->changes;
    const auto wait = entry->restarts.next(first_pause_s, longest_pause_s);
    entry->next_start = home_.now() + wait;
    co_await home_.sleep(wait);
    const under_way counted(*this);
    const auto guard = co_await entry->lock.acquire();
    if (entry->changes != planned || !comes_back(*entry)) co_return;
    const auto started = co_await locked_start(entry, true);
    entry->wanted.running = true;  // also when it failed: the next daemon tries again
    if (started) co_return;
  }
}

void supervisor::hurry(entry& subject) {
  subject.gives_up_saving = true;
  subject.body->hurry();
}

void supervisor::hurry_holder(const entry_ref& entry, loop::time_point limit) {
  if (entry->is_starting || limit <= home_.now()) {
    hurry(*entry);
  } else if (limit != loop::time_point::max()) {
    endings_.spawn(hurry_at(entry, limit));
  }
}

loop::task<> supervisor::hurry_at(entry_ref entry, loop::time_point limit) {
  const auto planned = entry->changes;
  co_await home_.sleep(limit - home_.now());
  if (entry->changes == planned) hurry(*entry);
}

}  // namespace strata::daemon
