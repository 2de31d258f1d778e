#include "loop/work_thread.hpp"

#include "loop/thread.hpp"

namespace strata::loop {

result<std::unique_ptr<work_thread>> work_thread::start(std::string operation) {
  std::unique_ptr<work_thread> made(new work_thread);
  auto started = start_thread(std::move(operation), [self = made.get()] { self->serve(); });
  if (!started) return std::unexpected(started.error());
  made->thread_ = std::move(*started);
  return made;
}

work_thread::~work_thread() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock guard(lock_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void work_thread::post(job next) {
  {
    const std::scoped_lock guard(lock_);
    jobs_.push_back(std::move(next));
  }
  changed_.notify_one();
}

void work_thread::serve() {
  for (;;) {
    std::unique_lock guard(lock_);
    changed_.wait(guard, [this] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    auto next = std::move(jobs_.front());
    jobs_.pop_front();
    guard.unlock();
    next();
  }
}

}  // namespace strata::loop
