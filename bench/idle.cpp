// idle: opens connections that say nothing, says so, and holds them until its stdin ends. Then
// one line to all of them shows how many the server really serves.

#include <fmt/core.h>
#include <unistd.h>

#include <array>

#include "audience.hpp"
#include "scenarios.hpp"

namespace strata::bench {

void run_idle(const options& wanted) {
  audience receivers(wanted, wanted.connections);
  json_object ready;
  ready.add("ready", wanted.connections);
  ready.print();

  std::array<char, 256> ignored;
  while (read(STDIN_FILENO, ignored.data(), ignored.size()) > 0) {
  }

  sender source(wanted);
  receivers.attend(source);
  receivers.probe(source, 5);
  json_object out;
  out.add("scenario", wanted.scenario);
  out.add("connections", wanted.connections);
  out.add("served", receivers.probed());
  out.add("disconnected", receivers.disconnected());
  out.print();
}

}  // namespace strata::bench
