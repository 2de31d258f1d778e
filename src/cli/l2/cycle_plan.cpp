#include "cli/l2/cycle_plan.hpp"

#include <fmt/format.h>

#include <cmath>

#include "strata/nl/route.hpp"

namespace strata::cli {

namespace {

std::uint64_t duration_ns(const invocation& call, std::string_view key, double otherwise) {
  return static_cast<std::uint64_t>(std::llround(call.flags.value(key, otherwise) * 1e9));
}

// If no discipline holds it, a frame with a transmit time is sent at once, without an error.
outcome<> check_disciplines(const std::string& name, const std::string& clock) {
  auto over = nl::route::open();
  if (!over) return refuse(exit_failed, over.error());
  const auto on = over->link_named(name);
  if (!on) return refuse(exit_not_found, on.error());
  const auto all = over->qdiscs(on->index);
  if (!all) return refuse(exit_failed, all.error());
  std::string other;
  for (const auto& each : *all) {
    if (!each.holds_frames()) continue;
    const auto* const etf = std::get_if<nl::etf>(&each.what);
    const auto* const gates = std::get_if<nl::taprio>(&each.what);
    const auto its = etf != nullptr     ? nl::clock_text(etf->clock_id)
                     : gates != nullptr ? nl::clock_text(gates->clock_id)
                                        : "mono";
    if (its == clock) return {};
    other = fmt::format("{} of '{}' uses the clock {}: give --clock {}", each.kind, name, its, its);
  }
  if (!other.empty()) return refuse(exit_failed, other);
  return refuse(exit_failed,
                fmt::format("no queueing discipline of '{0}' holds frames until their time: add "
                            "etf (tc qdisc replace dev {0} root etf clockid CLOCK_TAI delta "
                            "300000), fq, or taprio with txtime-assist",
                            name));
}

}  // namespace

outcome<cycle_plan> cycle_plan::make(const invocation& call) {
  auto clock = l2::time_source::from_text(call.text("clock", "tai"));
  if (!clock) {
    const auto& why = clock.error();
    return refuse(why.code == errc::invalid_argument ? exit_misused
                  : why.code == errc::not_found      ? exit_not_found
                                                     : exit_failed,
                  why);
  }
  cycle_plan made{.clock = std::move(*clock)};
  made.period_ns = duration_ns(call, "period", 0.001);
  made.phase_ns = duration_ns(call, "at", 0);
  made.count = call.flags.value("count", std::uint64_t{UINT64_MAX});
  made.by_txtime = call.is_set("txtime");
  made.lead_ns = made.by_txtime ? duration_ns(call, "lead", 0.0005) : 0;
  constexpr std::uint64_t shortest_ns = 10'000;
  if (made.period_ns < shortest_ns) {
    return refuse(exit_misused, "--period is too short: give 10us or more");
  }
  if (made.phase_ns >= made.period_ns) {
    return refuse(exit_misused, "--at must be shorter than --period");
  }
  if (!made.by_txtime) return made;
  if (made.clock.text() != "tai" && made.clock.text() != "mono") {
    return refuse(exit_misused, "--txtime needs --clock tai or mono: the kernel supports no other");
  }
  if (auto good = check_disciplines(call.words[0], made.clock.text()); !good) {
    return std::unexpected(good.error());
  }
  return made;
}

std::uint64_t cycle_plan::first_deadline() const {
  constexpr std::uint64_t preparation_ns = 10'000'000;
  const auto earliest = clock.now_ns() + preparation_ns + lead_ns;
  return (earliest / period_ns + 1) * period_ns + phase_ns;
}

l2::raw_socket_options cycle_plan::socket_options() const {
  l2::raw_socket_options options;
  options.receives = false;
  options.send_timestamps = l2::timestamping::software;
  if (by_txtime) {
    options.send_times = clock.text() == "tai" ? l2::send_clock::tai : l2::send_clock::monotonic;
  }
  return options;
}

}  // namespace strata::cli
