// connect-rate: connect, send one line, see it delivered to a standing receiver, close; one after
// the other, so that a line has no other receivers and a close leaves nothing unread.

#include <string>

#include "audience.hpp"
#include "clock.hpp"
#include "failure.hpp"
#include "process.hpp"
#include "scenarios.hpp"

namespace strata::bench {

void run_connect_rate(const options& wanted) {
  if (wanted.speak != protocol::lines) fail("connect-rate speaks lines only");
  audience receivers(wanted, 1);
  {
    sender source(wanted);
    receivers.attend(source);
    if (!receivers.probe(source, 5)) fail("the standing receiver is not served");
    receivers.dismiss(source);
  }

  cpu_meter cpu(wanted.server_pid);
  cpu.start();
  const std::uint64_t start = now_ns();
  const std::uint64_t end = start + to_ns(wanted.seconds);
  constexpr std::uint64_t patience_ns = 1'000'000'000;
  constexpr std::uint64_t most_lost = 3;
  std::uint64_t connections = 0;
  std::uint64_t lost = 0;
  std::string line;
  for (std::uint64_t now = start; now < end && lost < most_lost; now = now_ns()) {
    const owned_fd socket = connect_loopback(wanted.server_port());
    line.clear();
    receivers.format().append(line, {message_kind::data, connections, now_ns()});
    send_whole(socket, line);
    ++connections;
    const std::uint64_t limit = now + patience_ns;
    while (receivers.slowest() < connections && now_ns() < limit) receivers.poll(10);
    if (receivers.slowest() < connections) ++lost;
  }
  const double seconds = to_seconds(now_ns() - start);

  json_object out;
  out.add("scenario", wanted.scenario);
  out.add("seconds", seconds);
  add_counts(out, receivers, connections);
  out.add("connections_per_s", static_cast<double>(connections) / seconds);
  out.add("server_cpu_ns", cpu.elapsed_ns());
  add_delays(out, receivers);
  out.print();
}

}  // namespace strata::bench
