// A task with a time limit.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"

namespace strata::loop {

/// Waits for the value of `work`, at most until `limit`: then cancels `work` where it waits and
/// returns nullopt. Also gives up soon after any thread has set `hurried`, if it is not null.
template <class T>
task<std::optional<T>> within(loop& loop, task<T> work, time_point limit,
                              const std::atomic<bool>* hurried = nullptr) {
  std::optional<T> value;
  condition done(loop);
  task_group running;
  const auto run = [](task<T> inner, std::optional<T>& into, condition& condition) -> task<> {
    into.emplace(co_await inner);
    condition.notify();
  };
  running.spawn(run(std::move(work), value, done));
  const auto is_over = [&] { return value.has_value() || (hurried != nullptr && *hurried); };
  const auto look = hurried == nullptr ? duration{} : std::chrono::milliseconds(10);
  co_await done.wait(is_over, limit, look);
  co_return std::move(value);
}

}  // namespace strata::loop
