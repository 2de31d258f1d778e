#include "cli/l2/cycle_sender.hpp"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/terminal/interrupt.hpp"

namespace strata::cli {

namespace {

std::uint64_t real_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

// Long waits are split into steps, so that Ctrl-C is noticed.
outcome<bool> cycle_sender::wait(std::uint64_t until_ns) const {
  constexpr std::uint64_t step_ns = std::chrono::nanoseconds(interrupt_interval).count();
  while (!is_interrupted()) {
    const auto now = plan_.clock.now_ns();
    const bool is_last = now + step_ns >= until_ns;
    const auto done = plan_.clock.wait_until(is_last ? until_ns : now + step_ns);
    if (!done) return refuse(exit_failed, done.error());
    if (is_last && *done) return true;
  }
  return false;
}

outcome<> cycle_sender::run() {
  const auto first = plan_.first_deadline();
  for (std::uint64_t cycle = 0; cycle < plan_.count; ++cycle) {
    const auto deadline = first + cycle * plan_.period_ns;
    const auto alarm = deadline - plan_.lead_ns;
    const auto awake = wait(alarm);
    if (!awake) return std::unexpected(awake.error());
    if (!*awake) break;
    const auto now = plan_.clock.now_ns();
    const auto late = now - std::min(alarm, now);
    woken_.record(late);
    // Deadlines are missed if the next one has come meanwhile; the frame is that of the newest.
    const auto over = std::min(late / plan_.period_ns, plan_.count - 1 - cycle);
    missed_ += over;
    cycle += over;
    if (auto done = send(cycle, deadline + over * plan_.period_ns); !done) return done;
    if (auto done = take_reports(); !done) return done;
    cycles_.store(cycle + 1, std::memory_order_relaxed);
  }
  // A discipline or a card reports its remaining frames a little later.
  std::this_thread::sleep_for(std::chrono::nanoseconds(plan_.lead_ns + 1'000'000));
  return take_reports();
}

outcome<> cycle_sender::send(std::uint64_t cycle, std::uint64_t deadline_ns) {
  const auto bytes = frame_.with(
      {.kind = wire::probe_kind::load, .run = run_, .sequence = cycle + 1, .time_ns = deadline_ns});
  deadlines_[given_++ % deadlines_.size()] = deadline_ns;
  const auto done = plan_.by_txtime ? over_.socket().send_at(bytes, deadline_ns)
                                    : over_.socket().send_raw(bytes, std::chrono::milliseconds(0));
  if (done) {
    ++sent_;
    return {};
  }
  if (done.error().code == errc::not_found) return refuse(exit_failed, done.error());
  ++refused_;
  if (!first_refusal_) first_refusal_ = done.error();
  return {};
}

outcome<> cycle_sender::take_reports() {
  for (;;) {
    const auto found = over_.socket().try_sent();
    if (!found) return refuse(exit_failed, found.error());
    if (!*found) return {};
    if ((*found)->what == l2::sent_frame::fate::sent) {
      take_sent(**found);
    } else {
      ++dropped_;
    }
  }
}

// The kernel's stamp uses the real-time clock; the two clocks are read one after the other.
void cycle_sender::take_sent(const l2::sent_frame& frame) {
  const auto deadline = deadlines_[frame.number % deadlines_.size()];
  const auto offset =
      static_cast<std::int64_t>(plan_.clock.now_ns()) - static_cast<std::int64_t>(real_ns());
  const auto late =
      static_cast<std::int64_t>(frame.time_ns) + offset - static_cast<std::int64_t>(deadline);
  if (late < 0) ++early_;
  left_.record(late < 0 ? 0 : static_cast<std::uint64_t>(late));
}

std::string cycle_sender::text(bool with_histogram) const {
  auto all = fmt::format("{} cycles, {} sent, {} missed, {} refused, {} dropped for their time\n",
                         cycles(), sent_, missed_, refused_, dropped_);
  if (first_refusal_) all += fmt::format("the first refusal: {}\n", describe(*first_refusal_));
  if (woken_.total() != 0) all += fmt::format("woken late by: {}\n", woken_.text(true));
  if (with_histogram) all += woken_.drawn();
  if (left_.total() != 0) {
    all += fmt::format("handed to the driver late by: {}{}\n", left_.text(true),
                       early_ == 0 ? "" : fmt::format(" ({} early)", early_));
  }
  if (with_histogram) all += left_.drawn();
  return all;
}

nlohmann::json cycle_sender::json() const {
  nlohmann::json all{{"cycles", cycles()},
                     {"sent", sent_},
                     {"missed", missed_},
                     {"not_taken", refused_},
                     {"dropped", dropped_},
                     {"early", early_},
                     {"wake", nlohmann::json::object()},
                     {"send", nlohmann::json::object()}};
  woken_.put_into(all["wake"], true);
  left_.put_into(all["send"], true);
  if (first_refusal_) all["first_refusal"] = describe(*first_refusal_);
  return all;
}

}  // namespace strata::cli
