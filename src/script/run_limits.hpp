// The limits of a script's runs: the CPU time of a handler from one wait to the next, the script's
// memory, and the depth of calls on the thread's stack.
//
// They apply while a `limited_run` exists. The machine owns them. For the machine's loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "loop/loop.hpp"
#include "script/memory_account.hpp"
#include "script/run_supervisor.hpp"

struct lua_State;

namespace strata::script {

/// The size of a text or a block from which on processing it may take a while.
constexpr std::size_t much_at_once = 64U << 10U;

class run_limits {
 public:
  /// `script`: the name of the script's file, for errors, as `limit_of`. Both must outlive the
  /// limits. `supervisor` decides about the time instead of `most_time`, if it is not null.
  run_limits(loop::duration most_time, std::string_view limit_of, std::uint64_t most_memory,
             const std::string& script, run_supervisor* supervisor)
      : most_time_(most_time),
        limit_of_(limit_of),
        script_(script),
        supervisor_(supervisor),
        memory_(most_memory) {}
  run_limits(const run_limits&) = delete;
  run_limits& operator=(const run_limits&) = delete;

  /// Makes Lua check the time regularly. Called once, before the first run.
  void watch(lua_State* state);

  [[nodiscard]] const memory_account& memory() const { return memory_; }
  /// As `lua_Alloc`. While the program itself creates values, memory has no limit, since nothing
  /// could catch the error. The script's next allocation meets the limit.
  [[nodiscard]] void* allocate(void* block, std::size_t old_size, std::size_t new_size) {
    if (is_limited_ && new_size > old_size) {
      const auto more = new_size - old_size;
      if (!memory_.admit(more)) return nullptr;
      if (more >= much_at_once) expect_much();
    }
    return memory_.resize(block, old_size, new_size);
  }
  /// Collects garbage if that is due, before a handler needs memory.
  void collect_garbage_if_due() {
    if (memory_.is_collection_due()) collect_garbage();
  }

  /// Ends the handler with an error that cannot be caught, when its time is over. `level`: of the
  /// function to name as the place, as Lua counts levels.
  void check_time(lua_State* running, int level = 1);
  /// Announces a single instruction that may take long: its time counts from here on, and is
  /// checked when it is over. To be called from `much_at_once` bytes on.
  void expect_much();
  /// Begins the time again, within a run: for a step of a series.
  void restart_time() {
    ++run_number_;
    allowed_ = supervisor_ == nullptr ? most_time_ : supervisor_->allowance();
  }
  /// Raises an error if the script's calls are nested too deep on the thread's stack. Lua's own
  /// limit applies to each coroutine's stack, which lies elsewhere. For code that calls the script
  /// from C, or resumes a coroutine.
  void check_stack(lua_State* running) const;
  /// Reports whether the running handler has used up its time.
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }

 private:
  friend class limited_run;
  friend class limits_pause;
  bool begin_timing(std::chrono::steady_clock::time_point now);
  [[nodiscard]] int instructions_between_checks() const;
  void check_after(int instructions);
  void schedule_check();
  void collect_garbage();
  [[nodiscard]] bool extend_time();
  void give_reason(lua_State* running, int level);
  void stop(lua_State* running) const;

  loop::duration most_time_;
  std::string_view limit_of_;
  const std::string& script_;
  run_supervisor* supervisor_;
  loop::duration allowed_ = most_time_;  // in this run
  lua_State* state_ = nullptr;
  bool is_limited_ = false;            // while the script runs
  const char* stack_begin_ = nullptr;  // the thread's, where the script began; while it runs
  bool is_stopped_ = false;            // the running handler has used up its time
  std::string stop_reason_;
  std::uint64_t run_number_ = 0;  // number of the run, from a resume to the next
  std::uint64_t timed_run_ = 0;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point checked_;  // last check of the time
  int checks_ = 0;                                 // still to come, one after each instruction
  std::chrono::nanoseconds cpu_began_{};
  memory_account memory_;
};

/// A run of the script: the limits apply until it is destroyed. A run may contain others.
class limited_run {
 public:
  explicit limited_run(run_limits& limits)
      : limits_(limits),
        was_limited_(std::exchange(limits.is_limited_, true)),
        outer_stack_(limits.stack_begin_) {
    if (outer_stack_ == nullptr) {
      limits.stack_begin_ = static_cast<const char*>(__builtin_frame_address(0));
    }
    limits.restart_time();
    limits.schedule_check();
  }
  limited_run(const limited_run&) = delete;
  limited_run& operator=(const limited_run&) = delete;
  ~limited_run() {
    limits_.is_limited_ = was_limited_;
    limits_.stack_begin_ = outer_stack_;
    limits_.is_stopped_ = false;
    limits_.restart_time();  // of the run that contains this one
  }

 private:
  run_limits& limits_;
  bool was_limited_;
  const char* outer_stack_;
};

/// A part of a run in which the program itself creates values: time and memory have no limit until
/// it is destroyed.
class limits_pause {
 public:
  explicit limits_pause(run_limits& limits)
      : limits_(limits), was_limited_(std::exchange(limits.is_limited_, false)) {}
  limits_pause(const limits_pause&) = delete;
  limits_pause& operator=(const limits_pause&) = delete;
  ~limits_pause() { limits_.is_limited_ = was_limited_; }

 private:
  run_limits& limits_;
  bool was_limited_;
};

}  // namespace strata::script
