// hold: many receivers for a long time, one line to all of them each interval, and clients that
// never read a byte. Does everyone get everything, in time, whatever the stalled ones do?

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "audience.hpp"
#include "clock.hpp"
#include "failure.hpp"
#include "process.hpp"
#include "scenarios.hpp"

namespace strata::bench {

namespace {

// The least buffer that the kernel gives, so that a stalled client holds the server up early.
constexpr int stalled_buffer = 1;

void send_paced(const options& wanted, audience& receivers, sender& source) {
  const std::uint64_t start = now_ns();
  const std::uint64_t interval = to_ns(wanted.interval);
  const std::uint64_t end = start + to_ns(wanted.seconds);
  std::uint64_t due = start;
  for (std::uint64_t now = start; now < end; now = now_ns()) {
    if (now >= due) {
      source.send_messages(1);
      due += interval;
    }
    const std::uint64_t wait_ns = std::min(due, end) - std::min({now, due, end});
    receivers.poll(static_cast<int>(wait_ns / 1'000'000) + 1);
  }
}

}  // namespace

void run_hold(const options& wanted) {
  audience receivers(wanted, wanted.connections);
  std::vector<owned_fd> stalled;
  stalled.reserve(wanted.stalled);
  for (std::uint64_t i = 0; i < wanted.stalled; ++i) {
    stalled.push_back(connect_loopback(wanted.server_port(), stalled_buffer));
  }
  sender source(wanted);
  receivers.attend(source);
  if (!receivers.probe(source, 30)) {
    fail(fmt::format("only {} of {} receivers are served", receivers.probed(), wanted.connections));
  }

  cpu_meter cpu(wanted.server_pid);
  cpu.start();
  const std::uint64_t start = now_ns();
  send_paced(wanted, receivers, source);
  receivers.drain(source.sequence());

  json_object out;
  out.add("scenario", wanted.scenario);
  out.add("receivers", wanted.connections);
  out.add("stalled", wanted.stalled);
  out.add("size", wanted.size);
  out.add("seconds", to_seconds(std::max(start + 1, receivers.last_ns()) - start));
  add_counts(out, receivers, source.sequence());
  out.add("server_cpu_ns", cpu.elapsed_ns());
  add_delays(out, receivers);
  out.print();
}

}  // namespace strata::bench
