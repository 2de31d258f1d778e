// How the daemon's runtimes start and end with it.
#include "daemon/supervisor/supervisor.hpp"

#include <cerrno>
#include <chrono>
#include <ranges>

#include "daemon/supervisor/relations.hpp"

namespace strata::daemon {

using namespace std::chrono_literals;

namespace {

constexpr manner first_start{.is_retry = false, .leaves_failure = true};
constexpr manner next_start{.is_retry = true, .leaves_failure = true};

}  // namespace

supervisor::supervisor(loop::loop& loop, runtime::loop_source& loops,
                       std::unique_ptr<record_store> store, std::uint64_t pause_seed)
    : home_(loop),
      reconciler_(loop, loops, std::move(store), *this, pause_seed),
      follower_(loop, reconciler_, pause_seed) {}

void supervisor::join(cluster_view& cluster) {
  reconciler_.use_names(cluster.names());
  reconciler_.list().join(cluster);
  cluster_ = &cluster;
}

result<cluster_view*> supervisor::cluster() const {
  if (cluster_ != nullptr) return cluster_;
  return failure(errc::not_found, "show the cluster", "this daemon is in no cluster",
                 "start it with --cluster etcd://HOST:2379 --name NAME");
}

loop::task<> supervisor::start_all(group_members members) {
  const operation_count::member counted(reconciler_.operations());
  // Runtimes start after those that they need, and types in their table's order, so that servers
  // are there before clients; the rest start concurrently, so that a slow one delays no other.
  loop::task_group waiting;
  for (const auto& together : by_needs(entries(), members)) {
    for (const auto& type : runtime::types()) {
      loop::task_group starting;
      for (const auto& each : together) {
        const bool is_its_turn = each->desired.running && each->type == &type;
        if (is_its_turn) starting.spawn(start_again(each, waiting));
      }
      co_await starting.drained();
    }
  }
  co_await waiting.drained();
}

loop::task<> supervisor::start_again(entry_ref subject, loop::task_group& waiting) {
  const auto guard = co_await subject->lock.acquire();
  const auto started = co_await reconciler_.reconcile(subject, first_start);
  if (started) co_return;
  if (started.error().sys_errno == EADDRINUSE) {
    waiting.spawn(await_port(subject));
  } else {
    reconciler_.return_later(subject);
  }
}

// A killed daemon may have left a port that the kernel has not released yet: a pending io_uring
// write to a slow disk keeps all of its descriptors open.
loop::task<> supervisor::await_port(entry_ref subject) {
  for (int tries = 1; tries < 10 && !reconciler_.is_ending(); ++tries) {
    const auto planned = subject->changes;
    subject->next_start = home_.now() + 200ms;
    co_await home_.sleep(200ms);
    const auto guard = co_await subject->lock.acquire();
    if (subject->changes != planned || subject->removed) co_return;
    const auto started = co_await reconciler_.reconcile(subject, next_start);
    if (started) co_return;
    if (started.error().sys_errno != EADDRINUSE) break;
  }
  reconciler_.return_later(subject);
}

loop::task<> supervisor::shut_down(loop::time_point limit) {
  reconciler_.begin_end();
  for (const auto& [name, each] : entries()) {
    if (each->is_starting) each->body->hurry();
  }
  // An operation under way may add a runtime.
  do {
    auto ranks = by_needs(entries());
    for (const auto& together : std::views::reverse(ranks)) {
      loop::task_group stopping;
      for (const auto& each : together) stopping.spawn(halt(each, limit));
      co_await stopping.drained();
    }
    (void)co_await reconciler_.operations().drained();
  } while (!unstopped().empty());
}

loop::task<> supervisor::halt(entry_ref subject, loop::time_point limit) {
  const auto guard = co_await subject->lock.acquire();
  co_await reconciler_.halt(subject, limit);
}

void supervisor::hurry() {
  for (const auto& [name, each] : entries()) reconciler::hurry(*each);
}

std::vector<std::string> supervisor::unstopped() const {
  std::vector<std::string> names;
  for (const auto& [name, each] : entries()) {
    if (!each->ended) names.push_back(name);
  }
  return names;
}

}  // namespace strata::daemon
