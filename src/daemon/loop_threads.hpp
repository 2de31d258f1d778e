// The loops that runtimes run on: one thread each, created on demand, and ended when no runtime
// uses them any more. On the home loop.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "loop/backends/backend.hpp"
#include "runtime/runtime.hpp"

namespace strata::daemon {

class loop_threads final : public runtime::loop_source {
 public:
  /// Runtimes share up to `most` loops; one that asks for more gets more. `loop` outlives this
  /// object.
  loop_threads(loop::loop& loop, loop::backend_kind kind, std::size_t most);
  ~loop_threads();
  loop_threads(const loop_threads&) = delete;
  loop_threads& operator=(const loop_threads&) = delete;

  result<std::vector<loop::loop*>> assign(std::size_t count) override;
  void release(const std::vector<loop::loop*>& loops) override;
  [[nodiscard]] std::size_t size() const override { return workers_.size(); }
  /// Whether each loop has run a turn since the last call; asks those that have for another one.
  [[nodiscard]] bool have_answered();

 private:
  struct worker {
    std::thread thread;
    std::unique_ptr<std::atomic<bool>> may_end;
    /// Set by a turn that `have_answered` has asked for.
    std::shared_ptr<std::atomic<bool>> has_answered = std::make_shared<std::atomic<bool>>(true);
    loop::loop* runs = nullptr;
    std::size_t users = 0;
  };
  using ready_promise = std::promise<result<loop::loop*>>;
  result<void> add_worker();
  void run_worker(ready_promise& ready, const std::atomic<bool>& may_end);
  /// Ends unused loops, in the next turn of the home loop.
  void end_idle_soon();
  void end_idle();
  static void request_end(worker& worker);
  void join(std::thread::id id);

  loop::loop& home_;
  loop::backend_kind kind_;
  std::size_t most_;
  std::vector<worker> workers_;
  std::vector<worker> ending_;                                  // notified to end
  std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);  // for tasks posted to `home_`
};

}  // namespace strata::daemon
