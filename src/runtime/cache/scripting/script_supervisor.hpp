// How long the scripts of a cache may run. One that takes longer than busy-reply-threshold is
// interrupted again and again, so that other commands are refused rather than kept waiting, and so
// that it can be killed. One that cannot be interrupted is stopped.
#pragma once

#include <atomic>
#include <chrono>

#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/scripting/own_client.hpp"
#include "script/run_supervisor.hpp"

namespace strata::runtime::cache {

/// The CPU time of a script that cannot be interrupted.
constexpr auto longest_run = std::chrono::seconds(5);

class script_supervisor final : public script::run_supervisor {
 public:
  /// `loop` and `data` outlive it.
  script_supervisor(loop::loop& loop, engine& data, work_hooks hooks)
      : loop_(loop), data_(data), hooks_(std::move(hooks)) {}

  [[nodiscard]] loop::duration allowance() override;
  [[nodiscard]] decision on_overtime() override;

  /// Waits until no script is interrupted; from `limit` on, or when `hurried` is set, ends it.
  [[nodiscard]] loop::task<> finish(loop::time_point limit, const std::atomic<bool>& hurried);
  /// Ends an interrupted script at once, and leaves the transaction of its changes without an end.
  /// No command may be executed afterwards.
  void abandon();

 private:
  loop::task<> run_slices();
  void run_slice();

  loop::loop& loop_;
  engine& data_;
  work_hooks hooks_;
  loop::task_group running_;  // at most one task
};

}  // namespace strata::runtime::cache
