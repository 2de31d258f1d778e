// relay and fanout: one sender, N receivers, at most `window` messages ahead of the slowest.

#include <fmt/core.h>

#include <algorithm>

#include "audience.hpp"
#include "clock.hpp"
#include "failure.hpp"
#include "process.hpp"
#include "scenarios.hpp"

namespace strata::bench {

namespace {

void run_broadcast(const options& wanted, std::uint64_t receiver_count) {
  audience receivers(wanted, receiver_count);
  sender source(wanted);
  receivers.attend(source);
  if (!receivers.probe(source, 5)) {
    fail(fmt::format("only {} of {} receivers are served", receivers.probed(), receiver_count));
  }

  cpu_meter cpu(wanted.server_pid);
  cpu.start();
  const std::uint64_t start = now_ns();
  const std::uint64_t end = start + to_ns(wanted.seconds);
  // The first look at the clock that finds no progress for this long ends the run: the window is
  // full and the server has lost what would open it.
  constexpr std::uint64_t stall_ns = 2'000'000'000;
  for (std::uint64_t now = start; now < end; now = now_ns()) {
    if (receivers.disconnected() == receiver_count) break;
    if (now > std::max(start, receivers.last_ns()) + stall_ns) break;
    const std::uint64_t allowed = receivers.slowest() + wanted.window;
    if (allowed > source.sequence()) source.send_messages(allowed - source.sequence());
    receivers.poll(10);
  }
  receivers.drain(source.sequence());
  const std::uint64_t server_cpu_ns = cpu.elapsed_ns();
  const double seconds = to_seconds(std::max(start + 1, receivers.last_ns()) - start);

  json_object out;
  out.add("scenario", wanted.scenario);
  out.add("receivers", receiver_count);
  out.add("size", wanted.size);
  out.add("window", wanted.window);
  out.add("seconds", seconds);
  add_counts(out, receivers, source.sequence());
  out.add("echoed_bytes", source.echoed_bytes());
  out.add("sent_per_s", static_cast<double>(source.sequence()) / seconds);
  out.add("delivered_per_s", static_cast<double>(receivers.counts().delivered) / seconds);
  out.add("server_cpu_ns", server_cpu_ns);
  add_delays(out, receivers);
  out.print();
}

}  // namespace

void run_relay(const options& wanted) { run_broadcast(wanted, 1); }

void run_fanout(const options& wanted) { run_broadcast(wanted, wanted.receivers); }

void add_counts(json_object& out, const audience& receivers, std::uint64_t sent) {
  const tally counts = receivers.counts();
  const std::uint64_t expected = sent * receivers.size();
  out.add("sent", sent);
  out.add("delivered", counts.delivered);
  out.add("lost", expected - std::min(expected, counts.delivered));
  out.add("duplicated", counts.duplicated);
  out.add("corrupted", counts.corrupted);
  out.add("disconnected", receivers.disconnected());
}

void add_delays(json_object& out, const audience& receivers) {
  const auto to_us = [](std::uint64_t ns) { return static_cast<double>(ns) / 1000; };
  out.add("delay_p50_us", to_us(receivers.delays().percentile(0.50)));
  out.add("delay_p99_us", to_us(receivers.delays().percentile(0.99)));
  out.add("delay_max_us", to_us(receivers.delays().max()));
}

}  // namespace strata::bench
