// A task with a limit of time.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"

namespace strata::loop {

/// Awaits what `work` gives, until `limit` at the longest: then `work` is ended where it waits, and
/// the answer is nullopt. So it is soon after any thread has set `hurried`, if there is one.
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
