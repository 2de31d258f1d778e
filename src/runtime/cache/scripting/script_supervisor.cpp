#include "runtime/cache/scripting/script_supervisor.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace strata::runtime::cache {

using namespace std::chrono_literals;

namespace {

// How long an interrupted script runs before others have their turn.
constexpr auto slice = 10ms;
constexpr auto at_once = 1ns;
constexpr auto between_checks = 10ms;               // of `hurried`
constexpr std::int64_t a_year_ms = 31'536'000'000;  // more would not fit
constexpr auto end_error = "Script ended since the cache ends";

}  // namespace

loop::duration script_supervisor::allowance() {
  if (!data_.may_interrupt()) return longest_run;
  if (data_.home().interrupted().stops_all()) return at_once;
  const auto threshold_ms = std::min(data_.home().settings().busy_threshold_ms, a_year_ms);
  return std::chrono::milliseconds(threshold_ms);
}

script::run_supervisor::decision script_supervisor::on_overtime() {
  if (!data_.may_interrupt()) return {};
  auto& interrupted = data_.home().interrupted();
  if (!interrupted.stops_all()) {
    if (running_.empty()) running_.spawn(run_slices());
    data_.interrupt();
  }
  if (auto error = interrupted.take_stop()) return {.error = std::move(*error)};
  return {.more = slice};
}

// Those who wait for the end may begin a script that is interrupted in turn.
loop::task<> script_supervisor::run_slices() {
  auto& interrupted = data_.home().interrupted();
  do {
    co_await loop_.sleep(0ms);
    run_slice();
    if (!interrupted.is_on()) interrupted.report_end();
  } while (interrupted.is_on());
}

void script_supervisor::run_slice() {
  hooks_.begin_work();
  data_.resume_interrupted();
  data_.end_batch();
  hooks_.end_work();
}

loop::task<> script_supervisor::finish(loop::time_point limit, const std::atomic<bool>& hurried) {
  auto& interrupted = data_.home().interrupted();
  while (interrupted.is_on() && loop_.now() < limit && !hurried) {
    co_await loop_.sleep(between_checks);
  }
  if (interrupted.is_on()) interrupted.stop_all(end_error);
  while (interrupted.is_on()) co_await loop_.sleep(1ms);
}

void script_supervisor::abandon() {
  auto& interrupted = data_.home().interrupted();
  if (!interrupted.is_on()) return;
  running_.cancel();
  interrupted.abandon(end_error);
  while (interrupted.is_on()) run_slice();
}

}  // namespace strata::runtime::cache
