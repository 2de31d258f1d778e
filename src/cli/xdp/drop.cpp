// strata xdp drop: receives frames by AF_XDP and counts them.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/terminal/interrupt.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/xdp/flags.hpp"
#include "cli/xdp/rows.hpp"

namespace strata::cli {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// Frames per second, in windows of a second. They begin with the first batch, whose frames arrived
/// earlier.
class rate_windows {
 public:
  void count(std::uint64_t frames, clock::time_point now) {
    if (total_ == 0) {
      began_ = window_ = now;
      before_ = first_ = frames;
    }
    total_ += frames;
    last_ = now;
    if (now - window_ >= 1s) close(now);
  }
  /// An incomplete window counts only if there is no complete one.
  void finish() {
    if (windows_ == 0 && last_ > window_) close(last_);
  }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] double most() const { return most_; }
  [[nodiscard]] double least() const { return least_; }
  /// The rate over the whole time.
  [[nodiscard]] double mean() const {
    return seconds() > 0 ? static_cast<double>(total_ - first_) / seconds() : 0;
  }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(last_ - began_).count();
  }
  [[nodiscard]] clock::time_point last() const { return last_; }

 private:
  void close(clock::time_point now) {
    const auto rate = static_cast<double>(total_ - before_) /
                      std::chrono::duration<double>(now - window_).count();
    most_ = std::max(most_, rate);
    least_ = windows_++ == 0 ? rate : std::min(least_, rate);
    before_ = total_;
    window_ = now;
  }

  clock::time_point began_;
  clock::time_point window_;
  clock::time_point last_;
  std::uint64_t total_ = 0;
  std::uint64_t first_ = 0;   // size of the first batch
  std::uint64_t before_ = 0;  // frames before the present window
  unsigned windows_ = 0;
  double most_ = 0;
  double least_ = 0;
};

class receiver {
 public:
  explicit receiver(xdp::socket socket) : from_(std::move(socket)) {
    const auto places = from_.fill().reserve(from_.fill().size());
    for (std::uint32_t i = 0; i < places.size(); ++i) places[i] = from_.memory()->frame_at(i);
    from_.fill().submit(places.size());
  }

  result<void> run(std::uint64_t most, std::optional<clock::duration> silence) {
    while (rates_.total() < most && !is_interrupted()) {
      const auto there = from_.receive().peek(batch);
      if (!there.empty()) {
        take(there);
        continue;
      }
      if (auto waited = wait(); !waited) return waited;
      const bool is_silent =
          silence && rates_.total() != 0 && clock::now() - rates_.last() > *silence;
      if (is_silent) break;
    }
    rates_.finish();
    return {};
  }

  [[nodiscard]] const rate_windows& rates() const { return rates_; }
  [[nodiscard]] const xdp::socket& from() const { return from_; }

 private:
  // Received frames return to the fill ring, which they came from, but the kernel may publish its
  // free entries a moment later: the rest is taken next time.
  void take(const xdp::ring_slice<const xdp::descriptor>& there) {
    const auto back = from_.fill().reserve(there.size());
    std::uint64_t frames = 0;
    for (std::uint32_t i = 0; i < back.size(); ++i) {
      back[i] = from_.memory()->frame_of(there[i].address);
      if ((there[i].options & xdp::descriptor::continues) == 0) ++frames;
    }
    if (back.empty()) return;
    from_.fill().submit(back.size());
    from_.receive().release(back.size());
    if (frames != 0) rates_.count(frames, clock::now());
  }

  result<void> wait() {
    if (from_.fill().needs_wakeup()) {
      if (auto woken = wake(); !woken) return woken;
    }
    auto ready = from_.wait_readable(interrupt_interval);
    if (!ready) return std::unexpected(ready.error());
    // Poll does not report that the interface is gone.
    return *ready ? result<void>{} : wake();
  }

  // A link that is down may come up again.
  result<void> wake() {
    auto woken = from_.wake_receive();
    if (!woken && woken.error().sys_errno == ENETDOWN) return {};
    return woken;
  }

  xdp::socket from_;
  rate_windows rates_;
};

std::string_view busy_poll_text(const xdp::socket& socket) {
  const auto known = socket.is_busy_polled();
  if (!known) return "unknown: no frame arrived";
  return *known ? "on" : "has no effect with this driver";
}

outcome<int> report(const invocation& call, const receiver& work, bool is_native) {
  const auto& rates = work.rates();
  const auto counted = work.from().statistics();
  if (!counted) return refuse(exit_failed, counted.error());
  if (call.as_json) {
    print_json({{"packets", rates.total()},
                {"seconds", rates.seconds()},
                {"packets_per_second", rates.mean()},
                {"max_packets_per_second", rates.most()},
                {"min_packets_per_second", rates.least()},
                {"dropped", counted->dropped},
                {"receive_ring_full", counted->receive_ring_full},
                {"fill_ring_empty", counted->fill_ring_empty},
                {"native", is_native},
                {"zero_copy", work.from().is_zerocopy()}});
    return exit_done;
  }
  print(fmt::format("[rxdrop] max: {:.0f} (pps) min: {:.0f} (pps)\n", rates.most(), rates.least()));
  print(fmt::format("[rxdrop] {} (pkts) {:.3f} (s) {:.0f} (pps) {} (dropped)\n", rates.total(),
                    rates.seconds(), rates.mean(), counted->dropped));
  if (call.flags.contains("busy_poll")) {
    print(fmt::format("[rxdrop] busy polling: {}\n", busy_poll_text(work.from())));
  }
  return exit_done;
}

}  // namespace

outcome<int> run_xdp_drop(const invocation& call) {
  auto options = socket_flags(call);
  options.transmit_size = 0;
  options.multi_buffer = call.is_set("multi_buffer");
  auto opened = open_queue_of(call, call.words[0], options);
  if (!opened) return std::unexpected(opened.error());
  receiver work(std::move(opened->socket));
  watch_for_interrupt();
  if (!call.quiet) {
    complain(fmt::format("takes frames of '{}' in {} mode{}", call.words[0],
                         opened->is_native ? "native" : "generic",
                         opened->reason.empty() ? "" : " (" + opened->reason + ")"));
  }
  const auto done = work.run(count_flag(call), silence_flag(call));
  auto reported = report(call, work, opened->is_native);
  if (!done) return refuse(exit_failed, done.error());
  return reported;
}

}  // namespace strata::cli
