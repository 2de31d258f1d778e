// One process of a program, from its start to its end: its output, whether it is ready, how it is
// stopped.
//
// For one loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "process/child.hpp"
#include "runtime/journal.hpp"
#include "runtime/program/command.hpp"
#include "runtime/program/options.hpp"

namespace strata::runtime::program {

class instance {
 public:
  /// Called on the loop when the process has ended by itself.
  using end_listener = std::function<void(instance&, const process::ending&)>;

  /// `options` and `log` outlive it.
  instance(loop::loop& loop, const program_options& options, place_values values, journal& log,
           end_listener on_end);
  instance(const instance&) = delete;
  instance& operator=(const instance&) = delete;
  /// Kills what runs.
  ~instance();

  /// Starts the process, and waits until it is ready, as the options say. Errors: it could not be
  /// started, has ended, or was not ready in time; then nothing of it runs.
  [[nodiscard]] loop::task<result<void>> start();
  /// Asks it to end, and kills it at `limit`; waits for its end.
  [[nodiscard]] loop::task<> stop(loop::time_point limit);

  [[nodiscard]] bool is_running() const { return static_cast<bool>(child_); }
  [[nodiscard]] pid_t process_id() const { return child_.id(); }
  [[nodiscard]] const place_values& values() const { return values_; }
  /// How the last process has ended.
  [[nodiscard]] const process::ending& last_ending() const { return ending_; }
  /// Sends a signal to the process and all of its group.
  void signal(int number) const;

 private:
  [[nodiscard]] result<void> spawn();
  [[nodiscard]] result<std::vector<std::string>> words() const;
  loop::task<> watch();
  loop::task<> read(loop::descriptor pipe);
  void take_line(std::string_view line);
  loop::task<result<void>> await_ready();
  loop::task<bool> accepts(bool asks_for_path);
  [[nodiscard]] std::string subject() const;

  loop::loop& loop_;
  const program_options& options_;
  place_values values_;
  journal& log_;
  end_listener on_end_;
  process::child child_;
  process::ending ending_;
  bool is_stopping_ = false;  // its end is wanted
  bool has_said_it_ = false;  // the line for which `ready` waits
  loop::condition changed_;
  loop::task_group tasks_;
};

/// The number of a signal such as TERM; 0 if there is none of that name.
[[nodiscard]] int signal_number(std::string_view name);

}  // namespace strata::runtime::program
