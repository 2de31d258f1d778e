// strata l2 cycle: frames at absolute deadlines, and at the other end the intervals between them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "cli/l2/cycle_sender.hpp"
#include "cli/l2/realtime.hpp"
#include "cli/l2/rows.hpp"
#include "cli/terminal/interrupt.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/progress_bar.hpp"

namespace strata::cli {

namespace {

// The intervals between frames, by the kernel's stamps: each should be one period.
class arrivals {
 public:
  explicit arrivals(std::uint64_t period_ns) : period_ns_(period_ns) {}

  void take(const probe_port::received& each) {
    if (!each.what || each.what->kind != wire::probe_kind::load) return;
    const auto number = each.what->sequence;
    const auto stamp = each.frame.time_ns;
    const bool is_next = each.what->run == run_ && number > last_number_;
    if (each.what->run == run_ && !is_next) {
      ++disordered_;
      return;
    }
    ++frames_;
    if (is_next) missing_ += number - last_number_ - 1;
    // The kernel needs a moment before it stamps frames.
    if (is_next && last_ns_ != 0 && stamp > last_ns_) {
      const auto gap = static_cast<std::int64_t>(stamp - last_ns_);
      const auto wanted = static_cast<std::int64_t>((number - last_number_) * period_ns_);
      off_.record(static_cast<std::uint64_t>(std::abs(gap - wanted)));
    }
    run_ = each.what->run;
    last_number_ = number;
    last_ns_ = stamp;
  }
  [[nodiscard]] std::uint64_t frames() const { return frames_; }

  [[nodiscard]] std::string text(bool with_histogram) const {
    auto all = fmt::format("{} frames, {} missing, {} twice or out of order\n", frames_, missing_,
                           disordered_);
    if (off_.total() != 0) all += fmt::format("off the period by: {}\n", off_.text(true));
    return with_histogram ? all + off_.drawn() : all;
  }
  [[nodiscard]] nlohmann::json json() const {
    nlohmann::json all{{"frames", frames_},
                       {"missing", missing_},
                       {"disordered", disordered_},
                       {"arrival", nlohmann::json::object()}};
    off_.put_into(all["arrival"], true);
    return all;
  }

 private:
  std::uint64_t period_ns_;
  std::uint64_t run_ = 0;
  std::uint64_t last_number_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t missing_ = 0;
  std::uint64_t disordered_ = 0;
  time_spread off_;
};

class progress {
 public:
  explicit progress(std::uint64_t most) : most_(most) {}
  void show(std::uint64_t now) {
    const auto words = fmt::format("{} cycles", now);
    if (most_ == UINT64_MAX) {
      bar_.show(words);
    } else {
      bar_.show(static_cast<double>(now) / static_cast<double>(most_), words);
    }
  }

 private:
  std::uint64_t most_;
  progress_bar bar_;
};

template <class Result>
void show_result(const invocation& call, const Result& result) {
  if (call.as_json) {
    print_json(result.json());
  } else {
    print(result.text(call.is_set("histogram")));
  }
}

outcome<int> receive_cycles(const invocation& call) {
  const auto plan = cycle_plan::make(call);
  if (!plan) return std::unexpected(plan.error());
  l2::raw_socket_options options;
  options.timestamps = l2::timestamping::software;
  auto over = probe_port::open(call, options);
  if (!over) return std::unexpected(over.error());
  if (auto done = become_realtime(call); !done) return std::unexpected(done.error());
  watch_for_interrupt();
  arrivals counted(plan->period_ns);
  outcome<> received;
  {
    progress shown(plan->count);
    while (received && !is_interrupted() && counted.frames() < plan->count) {
      received = over->receive(interrupt_interval, [&](const auto& each) {
        if (counted.frames() < plan->count) counted.take(each);
      });
      shown.show(counted.frames());
    }
  }
  show_result(call, counted);
  if (!received) return std::unexpected(received.error());
  return exit_done;
}

outcome<int> send_cycles(const invocation& call) {
  const auto plan = cycle_plan::make(call);
  if (!plan) return std::unexpected(plan.error());
  auto over = probe_port::open(call, plan->socket_options());
  if (!over) return std::unexpected(over.error());
  auto frame = probe_frame::make(call, *over);
  if (!frame) return std::unexpected(frame.error());
  watch_for_interrupt();
  const auto work = std::make_unique<cycle_sender>(*plan, *over, std::move(*frame));
  outcome<> done;
  std::atomic<bool> is_over = false;
  // On a thread of its own, which writes to no terminal.
  std::thread sender([&] {
    done = become_realtime(call);
    if (done) done = work->run();
    is_over = true;
  });
  {
    progress shown(plan->count);
    while (!is_over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      shown.show(work->cycles());
    }
  }
  sender.join();
  if (work->cycles() != 0 || done) show_result(call, *work);
  if (!done) return std::unexpected(done.error());
  return work->sent() == 0 ? exit_failed : exit_done;
}

}  // namespace

outcome<int> run_l2_cycle(const invocation& call) {
  if (call.is_set("receive")) {
    if (call.words.size() == 2)
      return refuse(exit_misused, "--receive does not take DST; leave it out");
    return receive_cycles(call);
  }
  if (call.words.size() == 1) {
    return refuse(exit_misused,
                  "DST is missing: strata l2 cycle IFACE DST; at the other end, --receive");
  }
  return send_cycles(call);
}

}  // namespace strata::cli
