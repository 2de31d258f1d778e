// A thread for work that blocks, on a disk for example, so that no loop has to. Jobs run one after
// the other, in the order in which they were awaited.
//
// Names are looked up not here but on threads of their own (loop/names/name_lookup.hpp): a name
// server that does not answer must not delay other work.
#pragma once

#include <condition_variable>
#include <coroutine>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "loop/loop.hpp"

namespace strata::loop {

class work_thread {
 public:
  /// `operation` is the purpose, to follow "cannot". Errors: limit_exceeded if the system creates
  /// no more threads.
  [[nodiscard]] static result<std::unique_ptr<work_thread>> start(std::string operation);
  /// Waits until all jobs are done.
  ~work_thread();
  work_thread(const work_thread&) = delete;
  work_thread& operator=(const work_thread&) = delete;

  /// Runs `work`, a function that returns a value, on the thread, and waits for the value on
  /// `loop`, the caller's loop, which must outlive this object. So must everything `work` refers
  /// to. If the caller is destroyed first, the work is still done.
  template <class Work>
  auto run(loop& loop, Work work) -> task<std::invoke_result_t<Work&>> {
    awaiter<Work> answer(*this, loop, std::move(work));
    co_return co_await answer;
  }

 private:
  using job = std::move_only_function<void()>;

  template <class T>
  struct pending {
    std::coroutine_handle<> waiter;  // accessed on the home loop's thread only; null: it gave up
    std::optional<T> value;
  };

  template <class Work>
  struct awaiter {
    using value_type = std::invoke_result_t<Work&>;

    work_thread& thread;
    loop& home;
    Work work;
    std::shared_ptr<pending<value_type>> asked = std::make_shared<pending<value_type>>();

    awaiter(work_thread& worker, loop& asker, Work job)
        : thread(worker), home(asker), work(std::move(job)) {}
    awaiter(const awaiter&) = delete;
    awaiter& operator=(const awaiter&) = delete;
    ~awaiter() { asked->waiter = {}; }

    [[nodiscard]] bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> self) {
      asked->waiter = self;
      thread.post([&to = home, work = std::move(work), asked = asked]() mutable {
        asked->value.emplace(work());
        to.post([asked = std::move(asked)] {
          if (asked->waiter) asked->waiter.resume();
        });
      });
    }
    value_type await_resume() { return std::move(*asked->value); }
  };

  work_thread() = default;
  void post(job next);
  void serve();

  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<job> jobs_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace strata::loop
