// A process with a keeper, as this daemon knows it: from the keeper's first message on, or found
// by the socket that the keeper of an earlier daemon has.
//
// For one loop's thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "loop/loop.hpp"
#include "loop/task.hpp"
#include "process/child.hpp"
#include "process/keeper_link.hpp"
#include "runtime/program/options.hpp"
#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::runtime::program {

/// What the daemon that started a process has noted of it for later ones.
struct process_note {
  std::string port;         ///< of the instance; empty: it has none
  std::string fingerprint;  ///< as of `fingerprint_of`
  bool operator==(const process_note&) const = default;
};

/// The keeper of a process. Destroying it leaves the process to the keeper if an earlier daemon has
/// started that, and kills both otherwise: `release` leaves them to the next daemon.
struct kept_process {
  loop::descriptor connection;  ///< to the keeper
  process::child keeper;        ///< none if an earlier daemon has started it
  pid_t keeper_id = 0;
  pid_t id = 0;  ///< of the process; 0: there is none
  std::uint64_t start_ticks = 0;
  unique_fd handle;  ///< pidfd of the process
  loop::descriptor output;
  unique_fd notifications;  ///< none unless the options ask for it
  loop::descriptor socket;  ///< that was handed over, if any
  bool was_ready = false;   ///< an earlier daemon has seen it ready
  process_note note;

  void release();
};

/// What a start of the program depends on, in short: a process whose fingerprint is another runs by
/// other options. It depends on no version of strata.
[[nodiscard]] std::string fingerprint_of(const program_options& options);

/// Starts a program by a keeper, in a turn of the loop that no other start has had: a start holds
/// the loop until the kernel runs the new process, and orders, such as a stop, come in between.
/// `keeper_id` is set to the keeper's id as soon as there is one. Errors: those of `start_keeper`
/// and of the start of the program; timed_out if the keeper does not answer; canceled if the start
/// is no longer wanted when its turn comes.
[[nodiscard]] loop::task<result<kept_process>> start_kept(loop::loop& loop,
                                                          process::kept_program program,
                                                          pid_t& keeper_id,
                                                          std::function<bool()> is_wanted);
/// Finds the process whose keeper has that socket in `folder`; nullopt if there is none. Errors:
/// timed_out if the keeper does not answer, in time or before `hurried` is set; malformed for an
/// answer of another version; then that keeper has been told to end its program.
[[nodiscard]] loop::task<result<std::optional<kept_process>>> find_kept(
    loop::loop& loop, int folder, std::string name, const std::atomic<bool>& hurried);
/// Waits until the process has ended. Nullopt: its keeper has ended before it.
[[nodiscard]] loop::task<std::optional<process::ending>> await_ending(
    loop::loop& loop, const loop::descriptor& connection);
/// Acknowledges the end to the keeper, which then ends too, and closes what it holds: the listening
/// socket, say. Waits for that, at most until `limit`.
[[nodiscard]] loop::task<> let_go(loop::loop& loop, const loop::descriptor& connection,
                                  loop::time_point limit);
/// Makes the keeper end its program by the stop signal, and SIGKILL later; waits until `limit` for
/// the end of both. Returns false if they have not ended by then.
[[nodiscard]] loop::task<bool> end_kept(loop::loop& loop, const loop::descriptor& connection,
                                        loop::time_point limit);

}  // namespace strata::runtime::program
