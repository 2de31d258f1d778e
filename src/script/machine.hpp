// A virtual machine for one script on one loop: it loads the script, runs its handlers, and stops
// handlers that use too much time or memory.
//
// Each handler runs in a coroutine of the script. A function that waits (`function_row::wait`)
// suspends only that coroutine. Everything is for the loop's thread. A machine may be destroyed
// while its handlers wait, but not from within one.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "script/activities.hpp"
#include "script/bound_functions.hpp"
#include "script/call.hpp"
#include "script/handler.hpp"
#include "script/held_objects.hpp"
#include "script/lazy_tables.hpp"
#include "script/library.hpp"
#include "script/object.hpp"
#include "script/run_limits.hpp"
#include "script/timers.hpp"
#include "strata/base/result.hpp"

namespace strata::script {

struct settings {
  std::uint64_t most_memory = 64U << 20U;
  /// The CPU time of a handler, from one wait to the next.
  loop::duration most_time = std::chrono::milliseconds(100);
  /// Decides about the time instead, if it is not null; it must outlive the machine.
  run_supervisor* supervisor = nullptr;
  /// Whose limit that is, for the error.
  std::string_view time_limit_of = "--lua-time";
  /// Lets LuaJIT compile code that runs often. Compiled code cannot be stopped.
  bool is_compiled = false;
  /// Gives the script all libraries of Lua, including modules in C.
  bool is_unsafe = false;
  /// The rights that functions need (function_row::needs).
  bool may_use_net = true;
  bool may_change_runtimes = true;
  /// The limit for waiting handlers, and also for timers.
  std::size_t most_waiting = 10000;
  /// The limit for objects that the script holds.
  std::size_t most_objects = 1000;
  /// The folders that `require` searches after the script's own.
  std::vector<std::string> libraries = {};
};

class kept_function;

/// Receives a machine's events.
class observer {
 public:
  /// Called for an error of the script, with the lines that led to it.
  virtual void on_error(const std::string& text) = 0;
  /// Called for each line that the script prints.
  virtual void on_print(const std::string& line) = 0;
  /// Called when a handler ran, until it ended or waited.
  virtual void on_run(const callback_run& ran) = 0;

 protected:
  ~observer() = default;
};

/// Where a function of a script has failed.
struct failure_place {
  std::string source;  ///< as the script was named; empty: unknown
  int line = 0;
};

/// Gets the first result of a function, or, with the place where it failed, its error value.
using result_taker = std::function<void(value_view value, const failure_place* failed)>;

class machine {
 public:
  /// `watched_by` must outlive the machine. Errors: limit_exceeded if there is too little memory
  /// for it.
  static result<std::unique_ptr<machine>> make(loop::loop& loop, const settings& settings,
                                               observer& watched_by);
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;
  ~machine();

  // --- before it loads
  /// Adds a table of functions. They are called with `host`, which must outlive the machine.
  void add(const library& table, void* host);
  /// Adds a kind of object that functions may return.
  void make_kind(const object_kind& kind);
  /// Sets a value in a global table that has been added.
  void set(std::string_view table, const char* field, const nlohmann::json& value);
  /// Gives a global another name.
  void alias(const char* name, const char* other);
  /// Runs the program's own Lua code, which must end without waiting.
  void extend(std::string_view lines, const char* name);
  /// Adds lua-cjson's table `cjson`.
  void add_json();

  /// Reads the script and runs its chunk. Errors: those of the file, or of the script, with its
  /// lines.
  result<void> load(const std::string& file, std::span<const callback_row> callbacks);
  /// As `load`, from a text.
  result<void> load_text(std::string_view text, const std::string& name,
                         std::span<const callback_row> callbacks);

  // --- once it has been loaded
  /// Reports whether the script has this callback.
  [[nodiscard]] bool has(std::size_t callback) const { return callbacks_[callback] != 0; }
  /// Starts a handler. Returns true if it has ended, and `waiter` was called; false if it waits.
  bool start(std::size_t callback, std::span<const argument> arguments, waiter* waiter = nullptr);
  bool start(const value_ref& function, std::span<const argument> arguments,
             waiter* waiter = nullptr);
  bool start(series& series);
  /// Returns the value that the program's own Lua code returns, which must end without waiting.
  [[nodiscard]] value_ref make_value(std::string_view lines, const char* name);
  /// Gives scripts that are compiled from now on, by themselves too, another table of globals.
  void use_globals(const value_ref& globals);
  /// Compiles a script to a function without running it. Errors: invalid_argument, with Lua's own
  /// words as the reason.
  [[nodiscard]] result<value_ref> compile(std::string_view text, const std::string& name);
  /// Returns the place where a function ends.
  [[nodiscard]] failure_place end_of(const value_ref& function) const;
  /// Runs a function to its end, within the limits; it must not wait. `give` writes its arguments
  /// and returns their number.
  void run(const value_ref& function, const std::function<int(value_writer& writer)>& give,
           const result_taker& take);
  /// Returns a number that the script has set as a global.
  [[nodiscard]] double global_number(const char* name, double otherwise) const;

  /// Calls the function once, or repeatedly until it is disarmed. Returns 0 if there are too many
  /// timers.
  std::uint64_t arm(loop::duration after, bool repeats, value_ref function) {
    return timers_.arm(after, repeats, std::move(function));
  }
  void disarm(std::uint64_t timer) { timers_.disarm(timer); }
  /// Gives the machine no new work: its timers and objects end. Waiting handlers continue.
  void retire();

  [[nodiscard]] std::uint64_t memory() const { return limits_.memory().used(); }
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  /// Reports whether no handler waits and none of its functions is kept.
  [[nodiscard]] bool is_idle() const { return waiting_ == 0 && kept_.empty(); }
  [[nodiscard]] loop::loop& on() const { return loop_; }
  [[nodiscard]] const std::string& file() const { return file_; }

  // --- for this folder
  [[nodiscard]] lua_State* state() const { return state_; }
  [[nodiscard]] static machine& of(lua_State* state);
  [[nodiscard]] const settings& how() const { return settings_; }
  [[nodiscard]] observer& watched_by() const { return observer_; }
  void note_failure(failure_place place) { failed_at_ = std::move(place); }
  [[nodiscard]] run_limits& limits() { return limits_; }
  [[nodiscard]] held_objects& objects() { return objects_; }
  [[nodiscard]] lazy_tables& tables() { return tables_; }
  /// The waiting call that the running handler has begun.
  [[nodiscard]] pending_call& pending() { return pending_; }

 private:
  friend class kept_function;

  machine(loop::loop& loop, const settings& settings, observer& watched_by);
  result<void> set_up();
  static int take_step(lua_State* state);
  bool start_referred(int reference, std::size_t callback, std::span<const argument> arguments,
                      waiter* waiter);
  void turn_to(std::size_t callback);
  bool begin(activity& handler, std::span<const argument> arguments);
  bool resume(activity& handler, int arguments);
  void end(activity& handler, int status);
  loop::task<> await(activity& handler, loop::task<answers> work, value_ref object);
  result<void> run_chunk(activity& handler);

  loop::loop& loop_;
  settings settings_;
  observer& observer_;
  lua_State* state_ = nullptr;
  std::string file_;
  run_limits limits_;
  std::string last_error_;
  failure_place failed_at_;  // of the function that runs
  bound_functions functions_;
  std::vector<int> callbacks_;  // references; 0 for those that the script lacks
  pending_call pending_;
  activity* running_ = nullptr;
  std::chrono::steady_clock::time_point run_began_;
  int runs_series_ = 0;  // reference of the function that runs the steps of a series
  bool is_retired_ = false;
  lazy_tables tables_;
  std::set<kept_function*> kept_;
  held_objects objects_;
  activities activities_;
  std::size_t waiting_ = 0;
  timers timers_;
  loop::task_group tasks_;
};

}  // namespace strata::script
