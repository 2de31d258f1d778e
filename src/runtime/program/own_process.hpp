// A process that the program's command starts: its output, what it reports, whether it is ready and
// alive, how it is stopped.
//
// For one loop's thread.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "process/control_group.hpp"
#include "runtime/program/instance.hpp"
#include "runtime/program/kept_process.hpp"
#include "runtime/program/launch.hpp"
#include "runtime/program/notify_socket.hpp"
#include "runtime/program/output_file.hpp"

namespace strata::runtime::program {

class own_process final : public instance {
 public:
  own_process(const surroundings& surroundings, place_values values, end_listener on_end)
      : instance(surroundings, std::move(values), std::move(on_end)),
        state_folder_(surroundings.state_folder),
        changed_(loop_) {}
  own_process(const own_process&) = delete;
  own_process& operator=(const own_process&) = delete;
  /// Kills what runs.
  ~own_process() override;

  void hand_over(loop::descriptor socket) override { socket_ = std::move(socket); }
  [[nodiscard]] loop::task<result<bool>> adopt() override;
  [[nodiscard]] loop::task<result<void>> start() override;
  [[nodiscard]] loop::task<> stop(loop::time_point limit) override;
  void leave() override;
  [[nodiscard]] bool is_running() const override { return is_running_; }
  [[nodiscard]] bool is_ready() const override { return is_running() && is_ready_; }
  [[nodiscard]] pid_t process_id() const override { return is_running_ ? kept_.id : 0; }
  [[nodiscard]] loop::duration age() const override;
  [[nodiscard]] std::string status() const override { return status_; }
  bool signal(int number) const override;
  [[nodiscard]] std::string end_reason() const override;

 private:
  [[nodiscard]] std::string keeper_name() const;
  [[nodiscard]] result<unique_fd> open_folder() const;
  void take_adopted(kept_process kept, uid_t user);
  loop::task<> end_other(kept_process other);
  [[nodiscard]] loop::task<result<void>> spawn();
  loop::task<result<void>> run_keeper(unique_fd folder, process::kept_program order);
  loop::task<> spawn_keeper(unique_fd folder, process::kept_program order);
  [[nodiscard]] std::unexpected<error> given_up() const;
  loop::task<result<void>> await_free_port();
  [[nodiscard]] result<process::kept_program> make_order(int folder, launch& launch) const;
  [[nodiscard]] result<void> open_notifications();
  [[nodiscard]] result<void> open_group();
  loop::task<> close_group();
  loop::task<> end_group(process::control_group group);
  void use_notifications(notify_socket socket);
  loop::task<> take_notifications(loop::descriptor socket);
  void take(notification message);
  loop::task<> await_end();
  [[nodiscard]] process::ending end_without_keeper();
  loop::task<> await_keeper(process::child keeper);
  [[nodiscard]] result<void> open_output();
  loop::task<> read(loop::descriptor pipe);
  loop::task<> finish_output(loop::time_point stop_limit);
  void take_output(std::string& unfinished, std::string_view piece);
  void take_line(std::string_view line);
  loop::task<> end(loop::time_point limit);
  loop::task<> end_spawning(loop::time_point limit);
  loop::task<> end_unused(kept_process unused, loop::time_point limit);
  loop::task<result<void>> await_ready();
  loop::task<bool> becomes_ready(loop::time_point limit);
  loop::task<> await_failed_checks();
  loop::task<bool> is_alive();

  const std::string& state_folder_;
  loop::descriptor socket_;                      // handed over; none unless the options say so
  std::optional<process::control_group> group_;  // of the process and all that it starts
  kept_process kept_;  // until the process has ended; or adopted, and not started yet
  bool is_spawning_ = false;
  pid_t spawning_keeper_ = 0;  // that has not answered yet; 0: there is none
  result<void> spawned_;       // the outcome of the last spawning
  bool is_running_ = false;
  bool is_adopted_ = false;     // by an earlier daemon's keeper
  std::string notify_address_;  // empty: it takes no notifications
  int notify_descriptor_ = -1;  // its task owns it
  uid_t user_ = 0;
  std::string status_;
  bool is_ready_ = false;
  bool is_stopping_ = false;             // its end is wanted
  bool has_signaled_ = false;            // the line or the message that `ready` names
  bool has_shown_life_ = false;          // since the last check, if `alive` is notify
  std::unique_ptr<output_file> output_;  // null: none is kept
  unsigned readers_ = 0;                 // of the output of this process and of earlier ones
  loop::condition changed_;
  loop::task_group tasks_;
};

}  // namespace strata::runtime::program
