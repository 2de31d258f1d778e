// One of the processes behind a program's name, from its start to its end.
//
// For one loop's thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "loop/loop.hpp"
#include "process/child.hpp"
#include "runtime/journal.hpp"
#include "runtime/program/command.hpp"
#include "runtime/program/options.hpp"

namespace strata::runtime::program {

class instance {
 public:
  /// What all instances of a program share, and what outlives them.
  struct surroundings {
    loop::loop& loop;
    const program_options& options;
    journal& log;
    const std::string& state_folder;   ///< empty: the daemon has none
    const std::atomic<bool>& hurried;  ///< set when a start is to give up its waits
  };
  /// Called on the loop when an instance that was ready has ended by itself.
  using end_listener = std::function<void(instance& ended)>;

  instance(const surroundings& surroundings, place_values values, end_listener on_end)
      : loop_(surroundings.loop),
        options_(surroundings.options),
        log_(surroundings.log),
        hurried_(surroundings.hurried),
        values_(std::move(values)),
        on_end_(std::move(on_end)) {}
  instance(const instance&) = delete;
  instance& operator=(const instance&) = delete;
  virtual ~instance() = default;

  void use_port(std::uint16_t port) { values_.port = std::to_string(port); }
  /// Hands a listening socket to each process that it starts from now on.
  virtual void hand_over(loop::descriptor socket) = 0;
  /// Takes over the process that an earlier daemon has started for this instance, with its port and
  /// its socket; `start` then continues with it. One that was started by other options is ended.
  /// Returns whether there is one. Errors: there may be one, but it does not answer.
  [[nodiscard]] virtual loop::task<result<bool>> adopt() { co_return false; }
  /// Starts the process, and waits until it is ready, as the options say. Errors: it could not be
  /// started, has ended, or was not ready in time; then nothing of it runs.
  [[nodiscard]] virtual loop::task<result<void>> start() = 0;
  /// Asks it to end, and kills it at `limit`; waits for its end.
  [[nodiscard]] virtual loop::task<> stop(loop::time_point limit) = 0;
  /// Leaves the process running, for the next daemon to adopt.
  virtual void leave() {}

  [[nodiscard]] virtual bool is_running() const = 0;
  /// Whether it runs, and has become ready.
  [[nodiscard]] virtual bool is_ready() const = 0;
  /// 0 if it does not run, or is not known.
  [[nodiscard]] virtual pid_t process_id() const = 0;
  /// How long the process has run.
  [[nodiscard]] virtual loop::duration age() const { return {}; }
  /// What it reports of its state; empty if it reports nothing.
  [[nodiscard]] virtual std::string status() const { return {}; }
  /// Sends a signal to the process and all of its group. Returns false if it may not get one.
  virtual bool signal(int number) const = 0;
  /// How the last process has ended, and that as a sentence.
  [[nodiscard]] const process::ending& last_ending() const { return ending_; }
  [[nodiscard]] virtual std::string end_reason() const = 0;

  [[nodiscard]] const place_values& values() const { return values_; }

 protected:
  /// Before its lines in the log; empty for the only instance.
  [[nodiscard]] std::string subject() const {
    return options_.instances == 1 ? "" : "#" + std::to_string(values_.instance);
  }
  void report_end() {
    loop_.post([this] { on_end_(*this); });
  }

  loop::loop& loop_;
  const program_options& options_;
  journal& log_;
  const std::atomic<bool>& hurried_;
  place_values values_;
  process::ending ending_;

 private:
  end_listener on_end_;
};

/// The number of a signal such as TERM; 0 if there is none of that name.
[[nodiscard]] int signal_number(std::string_view name);

}  // namespace strata::runtime::program
