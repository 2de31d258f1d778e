// For tests: a simulated world's loops, for runtimes.
#pragma once

#include <vector>

#include "loop/backends/sim_loop.hpp"
#include "runtime/runtime.hpp"

namespace strata::daemon {

class sim_loops final : public runtime::loop_source {
 public:
  explicit sim_loops(loop::sim_world& world) : world_(world) {}

  result<std::vector<loop::loop*>> assign(std::size_t count) override {
    while (made_.size() < count) made_.push_back(&world_.add_loop());
    return std::vector(made_.begin(), made_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  void release(const std::vector<loop::loop*>& /*loops*/) override {}
  [[nodiscard]] std::size_t size() const override { return made_.size(); }

 private:
  loop::sim_world& world_;
  std::vector<loop::loop*> made_;
};

}  // namespace strata::daemon
