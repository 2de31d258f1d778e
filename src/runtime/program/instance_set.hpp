// The instances of a program, on one loop: starts them together, restarts those that end while
// others run, replaces them one after the other, and stops them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/backoff.hpp"
#include "runtime/program/instance.hpp"
#include "runtime/sharded.hpp"

namespace strata::runtime::program {

class instance_set final : public part {
 public:
  /// What it reports, on its loop.
  struct listeners {
    /// No instance runs any more, nor will by itself. The work is done if all have ended with
    /// success.
    std::function<void(const std::string& why, own_end end)> on_end;
    /// These instances, by their numbers, take work from now on.
    std::function<void(std::vector<std::size_t> numbers)> on_open_instances;
  };

  /// `context`, `hurried` and `keeps_processes` outlive it; a roll ends early once `hurried` is
  /// set, and the next `close` leaves the processes running if `keeps_processes` is, which it
  /// clears.
  instance_set(loop::loop& loop, program_options options, const context& context,
               const std::atomic<bool>& hurried, std::atomic<bool>& keeps_processes,
               listeners listeners);

  [[nodiscard]] loop::task<result<void>> open(std::vector<net::bind_target>& targets) override;
  [[nodiscard]] loop::task<result<void>> begin() override;
  [[nodiscard]] loop::task<> close(loop::time_point limit) override;
  [[nodiscard]] const counters& counted() const override { return counters_; }
  void apply(const live_edit<program_options>& edit) { options_ = edit.now; }

  /// The instances, as the operation `instances` shows them.
  [[nodiscard]] nlohmann::json report() const;
  /// The values of an instance, by its number; nullopt if there is none of that number.
  [[nodiscard]] std::optional<place_values> values_of(std::uint64_t number) const;
  /// Sends a signal to all instances; returns how many got it.
  std::size_t signal(int number);
  /// Replaces the process of each instance, one after the other: takes it out of the names, stops
  /// it, and starts it again. Returns how many were replaced. Errors: an instance did not become
  /// ready; those behind it run as before.
  [[nodiscard]] loop::task<result<std::size_t>> roll();

 private:
  struct member {
    std::unique_ptr<instance> process;
    net::backoff pauses;
    std::uint64_t restarts = 0;
    loop::time_point started;
    bool is_adopted = false;  // when the set was opened
    bool is_awaiting_restart = false;
    bool is_leaving = false;       // takes no new work
    bool has_ended_early = false;  // before all were ready
  };

  loop::task<result<void>> adopt();
  loop::task<> adopt(member& member, std::vector<error>& errors);
  result<void> take_port(net::bind_target& target, member& member);
  loop::task<> start(member& member, std::vector<error>& errors);
  loop::task<result<void>> replace(member& member);
  [[nodiscard]] std::unique_ptr<instance> make_instance(unsigned number);
  void on_end(instance& ended);
  void recover(member& member);
  loop::task<> restart(member& member);
  [[nodiscard]] bool has_spent_restarts(const member& member) const;
  void end_if_none_is_left(const instance& last);
  void report_open();

  loop::loop& loop_;
  program_options options_;
  const context& context_;
  const std::atomic<bool>& hurried_;
  std::atomic<bool>& keeps_processes_;
  listeners listeners_;
  counters counters_;
  std::vector<std::unique_ptr<member>> members_;
  bool is_closing_ = false;
  bool is_open_ = false;
  loop::task_group restarting_;
};

}  // namespace strata::runtime::program
