// How the daemon's runtimes pass to a later daemon.
#include <fmt/format.h>

#include <ranges>

#include "daemon/supervisor/relations.hpp"
#include "daemon/supervisor/supervisor.hpp"

namespace strata::daemon {

using namespace std::chrono_literals;

namespace {

constexpr manner first_start_again{.is_retry = false, .leaves_failure = false};
// A client that was accepted last is about to ask: it is answered before its connection ends.
constexpr auto last_requests = 250ms;

bool is_exclusive(const entry& subject) {
  return subject.state != run_state::running || !subject.body->may_overlap();
}

bool drains_by_option(const entry& subject) {
  return std::ranges::any_of(subject.type->rows(), [](const options::option_row& row) {
    return row.key == "drain" && row.kind == options::option_kind::flag;
  });
}

void report_connections(const entry& subject) {
  const auto count = subject.body->stats().connections_now.get();
  if (count == 0) return;
  subject.log->write(
      runtime::level::info,
      fmt::format("another daemon takes over: {} connections cannot move, and end here", count));
}

}  // namespace

loop::task<> supervisor::stop_exclusive(loop::time_point limit) {
  std::vector<entry_ref> exclusive;
  for (const auto& each : list().all()) {
    if (is_exclusive(*each)) exclusive.push_back(each);
  }
  for (const auto& each : exclusive) each->handed_over = each->place();
  loop::task_group accepting;
  for (const auto& each : exclusive) accepting.spawn(stop_accepting(each));
  co_await accepting.drained();
  co_await home_.sleep(std::min<loop::duration>(last_requests, limit - home_.now()));
  auto ranks = by_needs(entries());
  for (const auto& together : std::views::reverse(ranks)) {
    loop::task_group stopping;
    for (const auto& each : together) {
      if (std::ranges::find(exclusive, each) == exclusive.end()) continue;
      if (each->state == run_state::running) each->body->hand_over();
      stopping.spawn(halt(each, limit));
    }
    co_await stopping.drained();
  }
}

loop::task<> supervisor::resume() {
  for (const auto& each : list().all()) each->ended = false;
  for (const auto& together : by_needs(entries())) {
    for (const auto& each : together) {
      const auto guard = co_await each->lock.acquire();
      if (each->removed || each->state == run_state::running) continue;
      (void)co_await reconciler_.reconcile(each, first_start_again);
    }
  }
  for (const auto& each : list().all()) each->handed_over.reset();
  reconciler_.directory().refresh();
}

loop::task<> supervisor::stop_accepting() {
  const auto all = list().all();
  loop::task_group accepting;
  for (const auto& each : all) accepting.spawn(stop_accepting(each));
  co_await accepting.drained();
  for (const auto& each : all) {
    if (each->state == run_state::running && drains_by_option(*each)) {
      (void)each->body->edit({{"drain", true}});
    }
  }
  co_await home_.sleep(last_requests);
}

loop::task<> supervisor::stop_accepting(entry_ref subject) {
  const auto guard = co_await subject->lock.acquire();
  if (subject->state != run_state::running) co_return;
  report_connections(*subject);
  co_await subject->body->stop_accepting();
}

}  // namespace strata::daemon
