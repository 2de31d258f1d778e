// The instances of a program, on one loop: starts them together, restarts those that end while
// others run, and stops them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/backoff.hpp"
#include "runtime/program/instance.hpp"
#include "runtime/sharded.hpp"

namespace strata::runtime::program {

class instance_set final : public part {
 public:
  /// Called on this loop when no instance runs any more, nor will by itself; `is_done` if all have
  /// ended with success.
  using end_listener = std::function<void(const std::string& why, bool is_done)>;

  /// `context` outlives it.
  instance_set(loop::loop& loop, program_options options, const context& context,
               end_listener on_end);

  [[nodiscard]] loop::task<result<void>> open(std::vector<net::bind_target>& targets) override;
  [[nodiscard]] loop::task<> close(loop::time_point limit) override;
  [[nodiscard]] const counters& counted() const override { return counters_; }
  void apply(const live_edit<program_options>& edit) { options_ = edit.now; }

  /// The instances, as the operation `instances` shows them.
  [[nodiscard]] nlohmann::json report() const;
  /// Sends a signal to all instances; returns to how many.
  std::size_t signal(int number);

 private:
  struct member {
    std::unique_ptr<instance> process;
    net::backoff pauses;
    std::uint64_t restarts = 0;
    loop::time_point started;
    bool is_awaiting_restart = false;
    bool has_ended_early = false;  // before all were ready
  };

  result<void> take_port(net::bind_target& target);
  loop::task<> start(member& one, std::vector<error>& failed);
  void on_end(instance& ended, const process::ending& ending);
  loop::task<> restart(member& one);
  void end_if_none_is_left(const process::ending& last);

  loop::loop& loop_;
  program_options options_;
  const context& context_;
  end_listener on_end_;
  counters counters_;
  std::vector<std::unique_ptr<member>> members_;
  bool is_closing_ = false;
  bool is_open_ = false;
  loop::task_group restarting_;
};

}  // namespace strata::runtime::program
