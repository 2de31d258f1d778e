// A process that somebody else has started, and that strata only watches: by its id, by checks of
// its port, or both.
//
// For one loop's thread.
#pragma once

#include <string>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "runtime/program/instance.hpp"

namespace strata::runtime::program {

class outside_process final : public instance {
 public:
  outside_process(const surroundings& surroundings, place_values values, end_listener on_end)
      : instance(surroundings, std::move(values), std::move(on_end)), changed_(loop_) {}
  outside_process(const outside_process&) = delete;
  outside_process& operator=(const outside_process&) = delete;
  /// Leaves the process alone.
  ~outside_process() override { tasks_.cancel(); }

  void hand_over(loop::descriptor /*socket*/) override {}
  /// Begins to watch it. Errors: there is no such process, or its port does not answer in time.
  [[nodiscard]] loop::task<result<void>> start() override;
  /// Ends the watch; only a managed process is asked to end.
  [[nodiscard]] loop::task<> stop(loop::time_point limit) override;
  void leave() override { is_watched_ = false; }
  [[nodiscard]] bool is_running() const override { return is_watched_; }
  [[nodiscard]] bool is_ready() const override { return is_watched_; }
  [[nodiscard]] pid_t process_id() const override;
  bool signal(int number) const override;
  [[nodiscard]] std::string end_reason() const override { return reason_; }

 private:
  [[nodiscard]] result<void> open_process();
  loop::task<bool> becomes_ready(std::string condition);
  loop::task<> await_end();
  loop::task<> await_failed_checks();
  void end(std::string reason, process::ending ending);
  /// What is checked: as the options say, or the port if there is no process id.
  [[nodiscard]] std::string condition() const;

  loop::descriptor process_;  // its descriptor, as of pidfd_open(2); none without an id
  bool is_watched_ = false;
  std::string reason_;
  loop::condition changed_;
  loop::task_group tasks_;
};

/// A process of the system, told apart from a later one of the same id by its start time.
struct process_identity {
  pid_t id = 0;
  std::uint64_t start_ticks = 0;  ///< as of `process::start_ticks`; 0: unknown
};

/// Reads `PID` or `PID@TICKS`. Errors: invalid_argument.
[[nodiscard]] result<process_identity> read_identity(std::string_view text);

}  // namespace strata::runtime::program
