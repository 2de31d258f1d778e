// A task with a limit of time.
#pragma once

#include <optional>
#include <utility>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"

namespace strata::loop {

/// Awaits what `work` gives, until `limit` at the longest: then `work` is ended where it waits, and
/// the answer is nullopt.
template <class T>
task<std::optional<T>> within(loop& on, task<T> work, time_point limit) {
  std::optional<T> value;
  condition done(on);
  task_group running;
  const auto run = [](task<T> inner, std::optional<T>& into, condition& told) -> task<> {
    into.emplace(co_await inner);
    told.notify();
  };
  running.spawn(run(std::move(work), value, done));
  co_await done.wait([&value] { return value.has_value(); }, limit);
  co_return std::move(value);
}

}  // namespace strata::loop
