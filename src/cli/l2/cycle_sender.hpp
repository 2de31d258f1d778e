// The sender of strata l2 cycle: sends a frame at each deadline, and records how late it was.
#pragma once

#include <array>
#include <atomic>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "cli/l2/cycle_plan.hpp"
#include "cli/l2/probe_port.hpp"
#include "cli/l2/time_spread.hpp"

namespace strata::cli {

/// `run` is for a thread of its own; the other members are for after it, except `cycles`.
class cycle_sender {
 public:
  cycle_sender(const cycle_plan& plan, probe_port& port, probe_frame frame)
      : plan_(plan), over_(port), frame_(std::move(frame)) {}

  /// Runs until `count` deadlines are over, or Ctrl-C. Allocates nothing on the way.
  outcome<> run();
  /// Number of deadlines that are over; from any thread.
  [[nodiscard]] std::uint64_t cycles() const { return cycles_.load(std::memory_order_relaxed); }

  [[nodiscard]] std::string text(bool with_histogram) const;
  [[nodiscard]] nlohmann::json json() const;
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  outcome<bool> wait(std::uint64_t until_ns) const;
  outcome<> send(std::uint64_t cycle, std::uint64_t deadline_ns);
  outcome<> take_reports();
  void take_sent(const l2::sent_frame& frame);

  const cycle_plan& plan_;
  probe_port& over_;
  probe_frame frame_;
  std::uint64_t run_ = random_run();
  std::atomic<std::uint64_t> cycles_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t given_ = 0;    // to the kernel, including those that it refused
  std::uint64_t refused_ = 0;  // by the kernel, at once
  std::uint64_t missed_ = 0;   // deadlines that passed before it woke
  std::uint64_t dropped_ = 0;  // by the discipline, because of their time
  std::uint64_t early_ = 0;    // handed to the driver before the deadline
  std::optional<error> first_refusal_;
  std::array<std::uint64_t, 4096> deadlines_{};  // of the newest frames, by frame number
  time_spread woken_;
  time_spread left_;
};

}  // namespace strata::cli
