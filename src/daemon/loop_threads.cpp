#include "daemon/loop_threads.hpp"

#include <algorithm>

#include "loop/thread.hpp"

namespace strata::daemon {

loop_threads::loop_threads(loop::loop& loop, loop::backend_kind kind, std::size_t most)
    : home_(loop), kind_(kind), most_(std::max<std::size_t>(most, 1)) {}

loop_threads::~loop_threads() {
  for (auto& each : workers_) request_end(each);
  for (auto* all : {&workers_, &ending_}) {
    for (auto& each : *all) each.thread.join();
  }
}

void loop_threads::request_end(worker& worker) {
  worker.runs->post([stopped = worker.runs] { stopped->stop(); });
  worker.may_end->store(true);
  worker.may_end->notify_one();
}

// A worker's thread. A ring belongs to the thread that created it, so the loop is created where it
// runs.
void loop_threads::run_worker(ready_promise& ready, const std::atomic<bool>& may_end) {
  {
    const auto made = loop::make_loop(kind_);
    if (!made) {
      ready.set_value(std::unexpected(made.error()));
      return;
    }
    ready.set_value(made->get());
    (*made)->run();
    // The thread that posts the stop still accesses the loop after the loop has read the stop.
    may_end.wait(false);
  }
  home_.post([this, lives = std::weak_ptr(lives_), which = std::this_thread::get_id()] {
    if (!lives.expired()) join(which);
  });
}

result<void> loop_threads::add_worker() {
  ready_promise ready;
  worker added;
  added.may_end = std::make_unique<std::atomic<bool>>(false);
  auto started = loop::start_thread("run another loop", [this, &ready, &may_end = *added.may_end] {
    run_worker(ready, may_end);
  });
  if (!started) return std::unexpected(started.error());
  added.thread = std::move(*started);
  const auto runs = ready.get_future().get();
  if (!runs) {
    added.thread.join();
    return std::unexpected(runs.error());
  }
  added.runs = *runs;
  workers_.push_back(std::move(added));
  return {};
}

result<std::vector<loop::loop*>> loop_threads::assign(std::size_t count) {
  while (workers_.size() < count) {
    if (auto added = add_worker(); !added) {
      end_idle_soon();
      return std::unexpected(added.error());
    }
  }
  const auto idle = [](const worker& each) { return each.users == 0; };
  const bool would_share = std::ranges::none_of(workers_, idle);
  // If no more can be created, a shared loop serves as well.
  if (count == 1 && workers_.size() < most_ && would_share) (void)add_worker();
  std::vector<worker*> by_users;
  by_users.reserve(workers_.size());
  for (auto& each : workers_) by_users.push_back(&each);
  std::ranges::stable_sort(by_users, {}, &worker::users);
  std::vector<loop::loop*> assigned;
  assigned.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    ++by_users[i]->users;
    assigned.push_back(by_users[i]->runs);
  }
  return assigned;
}

void loop_threads::release(const std::vector<loop::loop*>& loops) {
  for (auto& each : workers_) {
    if (std::ranges::find(loops, each.runs) != loops.end()) --each.users;
  }
  end_idle_soon();
}

bool loop_threads::have_answered() {
  bool have_all = true;
  for (const auto& each : workers_) {
    if (!each.has_answered->exchange(false)) {
      have_all = false;
      continue;
    }
    each.runs->post([answer = each.has_answered] { answer->store(true); });
  }
  return have_all;
}

// Work posted to an io_uring loop wakes it when the posting loop's turn ends. So the stop is posted
// at a turn's beginning: this loop may have no turn after the present one.
void loop_threads::end_idle_soon() {
  home_.post([this, lives = std::weak_ptr(lives_)] {
    if (!lives.expired()) end_idle();
  });
}

void loop_threads::end_idle() {
  const auto idle = std::ranges::partition(workers_, [](auto& each) { return each.users != 0; });
  for (auto& each : idle) {
    request_end(each);
    ending_.push_back(std::move(each));
  }
  workers_.erase(idle.begin(), idle.end());
}

// The thread is about to return.
void loop_threads::join(std::thread::id id) {
  const auto ended =
      std::ranges::find(ending_, id, [](const worker& each) { return each.thread.get_id(); });
  if (ended == ending_.end()) return;
  ended->thread.join();
  ending_.erase(ended);
}

}  // namespace strata::daemon
