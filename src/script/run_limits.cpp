#include "script/run_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "script/lua.hpp"
#include "script/machine.hpp"

namespace strata::script {

namespace {

// Instructions between two checks of the time. A check costs 25 ns, an interpreted instruction
// about one.
constexpr int instructions_between = 200;
// The same while there are blocks of a MiB: an instruction that processes one takes up to a ms.
constexpr int instructions_between_large = 20;
// If the time between two checks exceeds this, it will most likely do so again.
constexpr auto slow = std::chrono::milliseconds(1);
constexpr int checks_behind_slow = 1000;
// A thread has 8 MiB of stack, of which the program itself uses little. A coroutine within a
// coroutine uses a few hundred bytes.
constexpr std::ptrdiff_t most_stack = 512L * 1024;

std::chrono::nanoseconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

void on_count(lua_State* state, lua_Debug* /*where*/) {
  machine::of(state).limits().check_time(state, 0);
}

}  // namespace

void run_limits::watch(lua_State* state) {
  state_ = state;
  lua_sethook(state, on_count, LUA_MASKCOUNT, instructions_between);
}

void run_limits::expect_much() {
  if (!is_limited_) return;
  begin_timing(std::chrono::steady_clock::now());
  if (cpu_began_ == std::chrono::nanoseconds::zero()) cpu_began_ = cpu_time();
  checks_ = std::max(checks_, 1);
  check_after(1);
}

// Reports whether this run was not timed before.
bool run_limits::begin_timing(std::chrono::steady_clock::time_point now) {
  if (timed_run_ == run_number_) return false;
  timed_run_ = run_number_;
  began_ = checked_ = now;
  cpu_began_ = {};
  return true;
}

int run_limits::instructions_between_checks() const {
  if (checks_ > 0) return 1;
  return memory_.has_large_blocks() ? instructions_between_large : instructions_between;
}

void run_limits::check_after(int instructions) {
  if (lua_gethookcount(state_) != instructions) {
    lua_sethook(state_, on_count, LUA_MASKCOUNT, instructions);
  }
}

void run_limits::schedule_check() { check_after(instructions_between_checks()); }

void run_limits::collect_garbage() {
  lua_gc(state_, LUA_GCCOLLECT, 0);
  memory_.note_collection();
}

void run_limits::check_time(lua_State* running, int level) {
  if (is_stopped_) stop(running);
  if (checks_ > 0) --checks_;
  if (!is_limited_) return schedule_check();
  const auto now = std::chrono::steady_clock::now();
  const bool is_first = begin_timing(now);
  if (now - std::exchange(checked_, now) > slow) checks_ = checks_behind_slow;
  schedule_check();
  if (is_first) return;
  collect_garbage_if_due();
  // Most handlers have ended by then: the kernel is queried only for the others.
  if (cpu_began_ == std::chrono::nanoseconds::zero()) cpu_began_ = cpu_time();
  if (now - began_ < allowed_) return;
  if (cpu_time() - cpu_began_ < allowed_) return;
  if (extend_time()) return;
  is_stopped_ = true;
  if (stop_reason_.empty()) give_reason(running, level);
  stop(running);
}

// Returns false if the run has to end.
bool run_limits::extend_time() {
  stop_reason_.clear();
  if (supervisor_ == nullptr) return false;
  auto decided = supervisor_->on_overtime();
  stop_reason_ = std::move(decided.error);
  if (decided.more == loop::duration::zero()) return false;
  ++run_number_;
  allowed_ = decided.more;
  return true;
}

void run_limits::give_reason(lua_State* running, int level) {
  luaL_where(running, level);
  std::string place = lua_tostring(running, -1);
  if (place.empty()) place = script_ + ": ";  // Lua does not know the place of a tail call
  stop_reason_ = fmt::format(
      "{}the handler was stopped: it ran for {} ms, the limit of {}", place,
      std::chrono::duration_cast<std::chrono::milliseconds>(allowed_).count(), limit_of_);
}

void run_limits::stop(lua_State* running) const {
  lua_pushlstring(running, stop_reason_.data(), stop_reason_.size());
  lua_error(running);
}

void run_limits::check_stack(lua_State* running) const {
  const char* const here = static_cast<const char*>(__builtin_frame_address(0));
  if (stack_begin_ == nullptr || stack_begin_ - here < most_stack) return;
  luaL_error(running,
             "stack overflow (coroutines, or functions that C calls, are nested too deep)");
}

}  // namespace strata::script
