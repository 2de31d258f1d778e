// The script of one part of a runtime: its machine, its functions for the program, its figures.
//
// For the part's loop. The part adds a table of functions of its own, and calls the script's
// functions with `start`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loop/condition.hpp"
#include "loop/loop.hpp"
#include "runtime/journal.hpp"
#include "runtime/options/script_options.hpp"
#include "runtime/options/script_rights.hpp"
#include "runtime/scripting/callbacks.hpp"
#include "runtime/scripting/figures.hpp"
#include "runtime/scripting/shared_store.hpp"
#include "script/asked.hpp"
#include "script/machine.hpp"

namespace strata::runtime {
class runtime_service;
}

namespace strata::runtime::scripting {

/// The facts about its runtime that a script sees.
struct identity {
  std::string name;
  std::string_view type;
  std::shared_ptr<journal> log;
  std::shared_ptr<shared_store> shared;
  runtime_service* others = nullptr;  ///< null: there are no other runtimes
};

class host final : private script::observer, private loop::timer {
 public:
  host(loop::loop& loop, const script_options& options, identity identity);
  ~host() override;

  /// Sets the runtime's own table `self`, also known by its type's name. `by` outlives this object.
  void offer(std::span<const script::function_row> functions, void* by) {
    own_ = functions;
    own_host_ = by;
  }

  /// Loads the script. Errors: those of the file and of the script.
  result<void> open();
  /// Calls on_start. Errors: it has failed before its first wait.
  result<void> begin();
  /// Calls on_stop, and waits for it until `limit`; then nothing of the script runs any more.
  loop::task<> end(loop::time_point limit);
  /// Loads the script again: on success it replaces the previous one, whose waiting functions run
  /// to their end. Errors: as of `open`; then nothing changes.
  result<void> reload();

  [[nodiscard]] bool has(callback callback) const {
    return machine_ != nullptr && machine_->has(static_cast<std::size_t>(callback));
  }
  /// Returns true if the function has ended and `waiter` was notified; false if it waits.
  bool start(callback callback, std::span<const script::argument> arguments,
             script::waiter* waiter = nullptr) {
    return machine_->start(static_cast<std::size_t>(callback), arguments, waiter);
  }
  /// Starts functions that run one after the other; the series makes them with `step_of`.
  bool start(script::series& series) { return machine_->start(series); }
  /// A call of a function that reports a client and, for a message, its content. It is counted.
  script::step step_of(callback callback, std::uint64_t id, std::string_view message);
  /// Starts such a call.
  void start_for(callback callback, std::uint64_t id, std::string_view message,
                 script::waiter* waiter = nullptr);
  template <class Read>
  auto ask(callback callback, std::vector<script::argument> arguments, Read read) {
    return script::ask(*machine_, static_cast<std::size_t>(callback), std::move(arguments),
                       std::move(read));
  }
  /// Passes a message from `strata send` through on_send: nullopt if the script drops it.
  loop::task<std::optional<std::string>> change_sent(std::string message);
  /// Runs a typed line, as `scripting::evaluate`.
  loop::task<result<nlohmann::json>> evaluate(std::string text, loop::time_point limit);
  void log(level level, const std::string& text);
  /// As `log`, limited per cause, for lines that others can cause as often as they like.
  void log_few(std::string_view cause, level level, const std::string& text);
  /// The number that the script has set as a global.
  [[nodiscard]] double global_number(const char* name, double otherwise) const {
    return machine_->global_number(name, otherwise);
  }

  /// Whether the script has ended, and nothing of it runs any more.
  [[nodiscard]] bool has_ended() const { return machine_ == nullptr; }
  [[nodiscard]] const script_figures& counted() const { return figures_; }
  [[nodiscard]] const identity& who() const { return who_; }
  [[nodiscard]] loop::loop& on() const { return loop_; }
  [[nodiscard]] const script_rights& rights() const { return rights_; }

 private:
  result<std::unique_ptr<script::machine>> make();
  void on_error(const std::string& text) override;
  void on_print(const std::string& line) override;
  void on_run(const script::callback_run& ran) override;
  void on_timer() override;
  void arm_tick();
  void note_size();
  loop::task<> watch();
  void follow_cluster();

  loop::loop& loop_;
  script_options options_;
  script_rights rights_;
  identity who_;
  std::span<const script::function_row> own_;
  void* own_host_ = nullptr;
  script_figures figures_;
  stopwatch watch_{figures_};
  std::unique_ptr<script::machine> machine_;
  std::vector<std::unique_ptr<script::machine>> retired_;
  loop::duration tick_{};
  loop::time_point last_tick_;
  journal::following cluster_;
  loop::task_group tasks_;
};

}  // namespace strata::runtime::scripting
