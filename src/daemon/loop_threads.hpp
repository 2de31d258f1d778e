// The loops that runtimes run on: one thread each, made when they are first wanted.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "loop/backend.hpp"
#include "runtime/runtime.hpp"

namespace strata::daemon {

class loop_threads final : public runtime::loop_source {
 public:
  /// `most` loops are shared by the runtimes; one that asks for more gets more.
  loop_threads(loop::backend_kind kind, std::size_t most);
  ~loop_threads();
  loop_threads(const loop_threads&) = delete;
  loop_threads& operator=(const loop_threads&) = delete;

  result<std::vector<loop::loop*>> assign(std::size_t count) override;
  void release(const std::vector<loop::loop*>& loops) override;
  [[nodiscard]] std::size_t size() const override { return workers_.size(); }

 private:
  struct worker {
    std::thread thread;
    std::unique_ptr<std::atomic<bool>> may_end;
    loop::loop* runs = nullptr;
    std::size_t users = 0;
  };
  result<void> add_worker();

  loop::backend_kind kind_;
  std::size_t most_;
  std::vector<worker> workers_;
};

}  // namespace strata::daemon
