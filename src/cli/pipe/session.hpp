// Two open ends of a pipe, joined until both have ended.
#pragma once

#include <array>
#include <optional>

#include "cli/pipe/opening.hpp"
#include "cli/pipe/standard_streams.hpp"
#include "loop/condition.hpp"
#include "loop/task_group.hpp"

namespace strata::cli {

class session {
 public:
  /// The ends and options outlive this object.
  session(loop::loop& loop, const pipe_ends& ends, const pipe_options& options);
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Joins the open ends; `standard` is null if neither is standard input and output. Waits for the
  /// end. Failures are reported on standard error, and give exit_failed.
  [[nodiscard]] loop::task<exit_code> run(std::array<open_end, 2> open,
                                          std::unique_ptr<standard_streams> standard);
  /// Breaks off an open end that has no counterpart.
  [[nodiscard]] loop::task<> refuse(std::array<open_end, 2> open);
  /// Prepares for destruction: signals to the peers that the data is incomplete.
  void break_off();

 private:
  loop::task<> join();
  loop::task<> join_streams();
  loop::task<> join_messages();
  loop::task<> watch_standard_output();
  loop::task<> part();
  void fail(bool of_first, error why);
  void on_trouble(bool of_first, error why, bool is_new);
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] bool expects_output() const;

  loop::loop& loop_;
  const pipe_ends& ends_;
  const pipe_options& options_;
  std::array<open_end, 2> open_;
  std::unique_ptr<standard_streams> standard_;
  loop::condition changed_;
  bool is_joined_ = true;          // at least one side has not ended
  bool is_written_ = false;        // standard output is written completely
  bool is_output_closed_ = false;  // the reader of standard output has gone
  bool has_lost_ = false;          // a message was lost
  std::optional<error> failed_;
  loop::task_group running_;
};

}  // namespace strata::cli
