// A virtual machine for one script on one loop: it loads the script, runs its handlers, and stops
// handlers that use too much time or memory.
//
// Each handler runs in a coroutine of the script. A function that waits (`function_row::wait`)
// suspends only that coroutine. Everything is for the loop's thread. A machine may be destroyed
// while its handlers wait, but not from within one.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "script/call.hpp"
#include "script/lazy_table.hpp"
#include "script/library.hpp"
#include "script/object.hpp"
#include "strata/base/result.hpp"

namespace strata::script {

struct settings {
  std::uint64_t most_memory = 64U << 20U;
  /// The CPU time of a handler, from one wait to the next.
  loop::duration most_time = std::chrono::milliseconds(100);
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

/// The text of a module, and its file's path.
struct module_source {
  std::string path;
  std::string text;
};

/// The size of a text or a block from which on processing it may take a while.
constexpr std::size_t much_at_once = 64U << 10U;

/// An argument of a handler. Texts and structures must live as long as the call that takes them.
using argument = std::variant<std::monostate, bool, double, std::string_view, const nlohmann::json*,
                              lazy_table*>;

/// The outcome of a handler. It lives as long as the call that reports it.
class finished {
 public:
  finished(lua_State* state, int values, std::string_view trouble = {})
      : by_(state), values_(values), trouble_(trouble) {}

  /// Reports whether it ended by an error, which has been reported.
  [[nodiscard]] bool has_failed() const { return values_ < 0; }
  /// The error of a failed handler, with the lines that led to it; empty if its machine was
  /// destroyed.
  [[nodiscard]] std::string_view trouble() const { return trouble_; }
  /// Reports whether it returned nothing, or nil.
  [[nodiscard]] bool is_nothing(int index = 0) const;
  [[nodiscard]] bool is_false() const;
  [[nodiscard]] bool is_text(int index = 0) const;
  [[nodiscard]] std::string_view text(int index = 0) const;
  /// Returns a result as JSON. Errors: JSON has no such value. `without`: a field of a table to
  /// leave out.
  [[nodiscard]] result<nlohmann::json> structure(int index = 0,
                                                 const char* without = nullptr) const;
  /// Returns a function that the handler returned; null if it returned something else.
  [[nodiscard]] std::unique_ptr<kept_function> function() const;
  /// As `function`, from a field of the returned table.
  [[nodiscard]] std::unique_ptr<kept_function> function(const char* field) const;

 private:
  lua_State* by_;
  int values_;
  std::string_view trouble_;
};

struct activity;

/// Receives the end of one handler. If the waiter is destroyed first, the end is not reported.
class waiter {
 public:
  waiter() = default;
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;
  virtual ~waiter();

 protected:
  virtual void on_end(const finished& outcome) = 0;

 private:
  friend class machine;
  activity* of_ = nullptr;
};

/// A run of a handler from one wait to the next, and its time.
struct callback_run {
  /// For a function that is not a callback, such as a timer's.
  static constexpr std::size_t no_callback = ~std::size_t{};

  std::size_t callback = no_callback;
  loop::duration took = {};
  bool has_begun = false;  ///< it is the handler's first run
};

/// One call of a callback.
struct step {
  std::size_t callback = 0;
  std::array<argument, 2> with = {};
  std::size_t count = 0;  ///< number of arguments
};

/// Calls that run one after another as one handler, which costs little more than a single one. Each
/// has its own time. The series receives the end of the last call; or of a failed one, after which
/// no further step is requested.
class series : public waiter {
 protected:
  /// Returns the next step. Its texts must live until the next is requested. Nullopt if there is
  /// none now.
  virtual std::optional<step> next() = 0;

 private:
  friend class machine;
};

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
  /// Returns the function that the program's own Lua code returns, which must end without waiting.
  [[nodiscard]] value_ref make_function(std::string_view lines, const char* name);
  /// Returns a number that the script has set as a global.
  [[nodiscard]] double global_number(const char* name, double otherwise) const;

  /// Calls the function once, or repeatedly until it is disarmed. Returns 0 if there are too many
  /// timers.
  std::uint64_t arm(loop::duration after, bool repeats, value_ref function);
  void disarm(std::uint64_t timer);
  /// Gives the machine no new work: its timers and objects end. Waiting handlers continue.
  void retire();

  [[nodiscard]] std::uint64_t memory() const { return used_; }
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  /// Reports whether no handler waits and none of its functions is kept.
  [[nodiscard]] bool is_idle() const { return waiting_ == 0 && kept_.empty(); }
  [[nodiscard]] loop::loop& on() const { return loop_; }
  [[nodiscard]] const std::string& file() const { return file_; }

  // --- for this folder
  [[nodiscard]] lua_State* state() const { return state_; }
  [[nodiscard]] static machine& of(lua_State* state);
  /// Ends the handler with an error that cannot be caught, when its time is over. `level`: of the
  /// function to name as the place, as Lua counts levels.
  void check_time(lua_State* running, int level = 1);
  /// Announces a single instruction that may take long: its time counts from here on, and is
  /// checked when it is over. To be called from `much_at_once` bytes on.
  void expect_much();
  /// Raises an error if the script's calls are nested too deep on the thread's stack. Lua's own
  /// limit applies to each coroutine's stack, which lies elsewhere. For code that calls the script
  /// from C, or resumes a coroutine.
  void check_stack(lua_State* running) const;
  /// Reports whether the running handler has used up its time.
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }
  [[nodiscard]] const settings& how() const { return settings_; }
  [[nodiscard]] observer& watched_by() const { return observer_; }
  /// Returns the source that `require` loads. Errors: not_found, with the places searched; those of
  /// the file.
  [[nodiscard]] result<module_source> find_module(std::string_view name) const;
  void push_lazy(lua_State* state, lazy_table& table);
  void make_lazily();
  void forget(lazy_table& gone);
  [[nodiscard]] bool has_room_for_object();
  void push_object(lua_State* state, const object_kind& kind, std::shared_ptr<object> object,
                   void* self);

 private:
  friend class kept_function;
  struct bound_function;
  class script_timer;

  machine(loop::loop& loop, const settings& settings, observer& watched_by);
  result<void> set_up();
  [[nodiscard]] std::vector<std::string> module_folders() const;
  static void* allocate(void* self, void* block, std::size_t old_size, std::size_t new_size);
  static int dispatch(lua_State* state);
  static int dispatch_method(lua_State* state);
  static int collect_object(lua_State* state);
  static int read_lazily(lua_State* state);
  static int take_step(lua_State* state);
  static int invoke(lua_State* state, const bound_function& function, void* host);
  /// Reports whether the arguments are so large that the function may take long.
  static bool check_arguments(lua_State* state, const bound_function& function);
  activity& take_activity(waiter* waiter);
  bool start_referred(int reference, std::size_t callback, std::span<const argument> arguments,
                      waiter* waiter);
  void turn_to(std::size_t callback);
  void count_memory(std::size_t before, std::size_t now);
  bool begin_timing(std::chrono::steady_clock::time_point now);
  void look_again(int instructions);
  [[nodiscard]] int instructions_to_look() const;
  bool begin(activity& one, std::span<const argument> arguments);
  bool resume(activity& one, int arguments);
  void end(activity& one, int status);
  static void end_early(activity& one);
  void release(activity& one, bool is_usable);
  loop::task<> await(activity& one, loop::task<answers> work, int promised);
  void forget(int promised);
  void close_objects();
  result<void> run_chunk(activity& one);
  [[nodiscard]] std::string trouble_of(lua_State* thread);
  void tidy();

  loop::loop& loop_;
  settings settings_;
  observer& observer_;
  lua_State* state_ = nullptr;
  std::string file_;
  std::uint64_t used_ = 0;
  std::uint64_t used_after_tidying_ = 0;
  bool was_refused_ = false;           // memory, since the last garbage collection
  bool is_limited_ = false;            // memory; while the script runs
  const char* stack_begin_ = nullptr;  // the thread's, where the script began; while it runs
  bool is_stopped_ = false;            // the running handler has used up its time
  std::string stop_reason_;
  std::string last_error_;
  std::uint64_t run_number_ = 0;  // number of the run, from a resume to the next
  std::uint64_t timed_run_ = 0;
  std::chrono::steady_clock::time_point began_;
  std::chrono::steady_clock::time_point looked_;  // last check of the time
  int looks_ = 0;                                 // still to come, one after each instruction
  std::uint64_t large_ = 0;                       // bytes in blocks that take long to process
  std::chrono::nanoseconds cpu_began_{};
  std::vector<std::unique_ptr<bound_function>> functions_;
  std::vector<int> callbacks_;  // references; 0 for those that the script lacks
  loop::task<answers> pending_;
  bool is_pending_ = false;
  int promised_ = 0;  // reference of the pending call's result
  activity* running_ = nullptr;
  std::chrono::steady_clock::time_point run_began_;
  int runs_series_ = 0;  // reference of the function that runs the steps of a series
  bool is_retired_ = false;
  boost::unordered_flat_map<const void*, lazy_table*> lazy_tables_;  // by table
  int lazily_ = 0;                                                   // reference of their metatable
  std::set<kept_function*> kept_;
  std::set<object*> objects_;                          // held by the script
  std::vector<std::unique_ptr<activity>> activities_;  // all
  std::vector<activity*> idle_;
  std::size_t waiting_ = 0;
  std::map<std::uint64_t, std::unique_ptr<script_timer>> timers_;
  std::uint64_t last_timer_ = 0;
  loop::task_group tasks_;
};

}  // namespace strata::script
