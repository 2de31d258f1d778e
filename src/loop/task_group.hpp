// Owner of tasks that are not awaited, such as one task per connection.
//
// Destroying the group destroys the tasks that still run, wherever they wait. It must not be
// destroyed, nor `cancel()` be called, from inside one of its own tasks.
#pragma once

#include <boost/intrusive/list.hpp>
#include <coroutine>
#include <cstddef>
#include <exception>

#include "loop/task.hpp"

namespace strata::loop {

class task_group {
 public:
  task_group() = default;
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;
  ~task_group() { cancel(); }

  /// Starts `work` at once; it runs until it first waits.
  void spawn(task<> work) { run(*this, std::move(work)); }

  [[nodiscard]] bool empty() const { return running_.empty(); }

  /// Destroys all tasks, including tasks that a task spawns while it is destroyed.
  void cancel() {
    while (!running_.empty()) running_.front().destroy();
  }

  /// Waits until no task runs. One waiter at a time.
  [[nodiscard]] auto drained() {
    struct awaiter {
      task_group& group;
      explicit awaiter(task_group& waited_on) : group(waited_on) {}
      awaiter(const awaiter&) = delete;
      awaiter& operator=(const awaiter&) = delete;
      ~awaiter() { group.waiter_ = {}; }
      [[nodiscard]] bool await_ready() const { return group.empty(); }
      void await_suspend(std::coroutine_handle<> self) { group.waiter_ = self; }
      void await_resume() const {}
    };
    return awaiter(*this);
  }

 private:
  struct root;
  struct root_promise : boost::intrusive::list_base_hook<
                            boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
    explicit root_promise(task_group& owner, task<>&) : group(owner) {
      group.running_.push_back(*this);
    }
    ~root_promise() { unlink(); }
    root_promise(const root_promise&) = delete;
    root_promise& operator=(const root_promise&) = delete;

    root get_return_object() const { return {}; }
    [[nodiscard]] std::suspend_never initial_suspend() const noexcept { return {}; }
    // The frame frees itself here; after that only the waiter remains to be resumed.
    struct leave {
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<root_promise> self) const noexcept {
        task_group& owner = self.promise().group;
        self.destroy();
        if (owner.empty() && owner.waiter_) std::exchange(owner.waiter_, {}).resume();
      }
      void await_resume() const noexcept {}
    };
    [[nodiscard]] leave final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
    void destroy() { std::coroutine_handle<root_promise>::from_promise(*this).destroy(); }

    task_group& group;
  };
  struct root {
    using promise_type = root_promise;
  };

  static root run(task_group& /*owner*/, task<> work) { co_await work; }

  boost::intrusive::list<root_promise, boost::intrusive::constant_time_size<false>> running_;
  std::coroutine_handle<> waiter_;
};

}  // namespace strata::loop
