#include "loop/loop.hpp"

namespace strata::loop {

namespace {

thread_local loop* current_loop = nullptr;

// The memory of one buffer, which frees itself when it is given back.
class own_memory final : public buffer::pool {
 public:
  explicit own_memory(byte_span bytes) : bytes_(bytes.begin(), bytes.end()) {}
  [[nodiscard]] byte_span bytes() const { return bytes_; }
  void give_back(std::uint32_t /*id*/) override { delete this; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

buffer buffer::copy_of(byte_span bytes) {
  if (bytes.empty()) return {};
  auto* const memory = new own_memory(bytes);
  return {*memory, 0, memory->bytes()};
}

buffer buffer::owned() && {
  auto copy = copy_of(bytes_);
  reset();
  return copy;
}

void request::cancel() {
  if (operation_ != nullptr) loop_->cancel(*operation_);
}

void request::abandon() {
  if (operation_ == nullptr) return;
  operation* left = std::exchange(operation_, nullptr);
  left->requester = nullptr;
  loop_->cancel(*left);
}

void descriptor::close() {
  if (fd_ >= 0) loop_->close_fd(std::exchange(fd_, -1));
}

loop* loop::current() { return current_loop; }

loop::~loop() = default;

void loop::end_tasks() {
  tasks_.cancel();
  mailbox_.run();
  tasks_.cancel();
}

void loop::arm(timer& timer, time_point deadline) {
  timer.disarm();
  timer.deadline_ = deadline;
  timers_.insert(timer);
}

bool loop::run_timers() {
  bool ran = false;
  // Timers armed by the timers that run now wait for the next turn, even with no delay.
  timer_queue due;
  while (!timers_.empty() && timers_.begin()->deadline() <= now_) {
    timer& first = *timers_.begin();
    timers_.erase(timers_.begin());
    due.insert(first);
  }
  while (!due.empty()) {
    timer& first = *due.begin();
    due.erase(due.begin());
    ran = true;
    first.on_timer();
  }
  return ran;
}

void loop::run_turn_end_hooks() {
  while (!turn_end_hooks_.empty()) {
    turn_end_hook& first = turn_end_hooks_.front();
    turn_end_hooks_.pop_front();
    first.on_turn_end();
  }
}

void loop::deliver(event& reaped) {
  operation* const of = reaped.of;
  request* const requester = of->requester;
  completion done{.result = reaped.result, .more = reaped.more, .data = std::move(reaped.data)};
  if (!reaped.more) {
    if (requester != nullptr) requester->operation_ = nullptr;
    const bool orphaned = requester == nullptr && of->type == operation::kind::accept;
    delete of;
    if (orphaned && reaped.result >= 0) close_fd(reaped.result);
  } else if (requester == nullptr && of->type == operation::kind::accept && reaped.result >= 0) {
    close_fd(reaped.result);
  }
  if (requester == nullptr) return;
  if (reaped.from.size() != 0) done.from = &reaped.from;
  requester->on_completion(std::move(done));
}

bool loop::turn(bool may_wait) {
  loop* const outer = std::exchange(current_loop, this);
  update_now();
  bool active = mailbox_.run();
  active = run_timers() || active;
  run_turn_end_hooks();
  // Events and messages that the above has caused end the wait at once.
  const bool waits = may_wait && !stopped_ && mailbox_.fall_asleep();
  wait(waits ? next_timer() : time_point::min());
  mailbox_.wake_up();
  update_now();
  const auto reaped_at = now_;
  // Completions that a delivery queues (an epoll send completes at once) are for the next turn.
  delivering_.swap(events_);
  active = active || !delivering_.empty();
  for (auto& reaped : delivering_) deliver(reaped);
  delivering_.clear();
  run_turn_end_hooks();
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(read_clock() - reaped_at);
  const auto lag = static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), 0));
  last_lag_us_.store(lag, std::memory_order_relaxed);
  if (lag > max_lag_us_.load(std::memory_order_relaxed)) {
    max_lag_us_.store(lag, std::memory_order_relaxed);
  }
  current_loop = outer;
  return active;
}

void loop::run() {
  stopped_ = false;
  while (!stopped_) turn(true);
}

}  // namespace strata::loop
