#include "daemon/loop_threads.hpp"

#include <algorithm>
#include <future>

#include "loop/thread.hpp"

namespace strata::daemon {

loop_threads::loop_threads(loop::backend_kind kind, std::size_t most)
    : kind_(kind), most_(std::max<std::size_t>(most, 1)) {}

loop_threads::~loop_threads() {
  for (auto& each : workers_) {
    each.runs->post([stopped = each.runs] { stopped->stop(); });
    each.may_end->store(true);
    each.may_end->notify_one();
    each.thread.join();
  }
}

// A ring belongs to the thread that made it, so the loop is made where it runs.
result<void> loop_threads::add_worker() {
  std::promise<result<loop::loop*>> ready;
  worker added;
  added.may_end = std::make_unique<std::atomic<bool>>(false);
  auto started =
      loop::start_thread("run one more loop", [kind = kind_, &ready, &may_end = *added.may_end] {
        auto made = loop::make_loop(kind);
        if (!made) {
          ready.set_value(std::unexpected(made.error()));
          return;
        }
        auto& mine = **made;
        ready.set_value(&mine);
        mine.run();
        // The thread that posts the stop still touches the loop after the loop has read it.
        may_end.wait(false);
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
    if (auto added = add_worker(); !added) return std::unexpected(added.error());
  }
  const auto idle = [](const worker& each) { return each.users == 0; };
  const bool would_share = std::ranges::none_of(workers_, idle);
  // When no more can be made, one that is shared does as well.
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
}

}  // namespace strata::daemon
