// strata nl listen
#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <chrono>

#include "cli/nl/flags.hpp"
#include "cli/nl/message.hpp"
#include "cli/nl/named_family.hpp"
#include "cli/nl/rows.hpp"
#include "cli/terminal/interrupt.hpp"
#include "cli/terminal/output.hpp"

namespace strata::cli {

namespace {

using clock = std::chrono::steady_clock;

/// Runs until `count` messages, a silence of `timeout`, or Ctrl-C.
void receive_messages(const invocation& call, nl::connection& connection, message_sink& sink) {
  const auto most = call.flags.value("count", std::uint64_t{UINT64_MAX});
  const std::chrono::duration<double> silence(call.flags.value("timeout", 1e9));
  auto last = clock::now();
  for (std::uint64_t received = 0; received < most && !is_interrupted();) {
    const auto event = connection.try_event();
    if (!event) {
      complain(describe(event.error()));
      if (event.error().sys_errno != ENOBUFS) break;
      continue;
    }
    if (*event) {
      sink.take(**event, nullptr);
      last = clock::now();
      ++received;
      continue;
    }
    if (clock::now() - last > silence) break;
    constexpr int longest_wait_ms = 100;
    pollfd ready{connection.fd(), POLLIN, 0};
    ::poll(&ready, 1, longest_wait_ms);
  }
}

}  // namespace

outcome<int> run_nl_listen(const invocation& call) {
  auto named = find_family(call);
  if (!named) return std::unexpected(named.error());
  const auto& family = named->family;
  auto& connection = named->kernel.over();
  const auto* const group = family.find_group(call.words[1]);
  if (group == nullptr) {
    return refuse(exit_not_found,
                  fmt::format("the family '{}' has no group '{}'; 'strata nl show {}' lists them",
                              call.words[0], call.words[1], call.words[0]));
  }
  if (auto joined = connection.join(group->id); !joined) return refuse(exit_failed, joined.error());
  watch_for_interrupt();
  complain(fmt::format("listening to '{}' of '{}'", group->name, family.name));
  message_sink sink(call.as_json, named->spec());
  receive_messages(call, connection, sink);
  sink.end();
  return exit_done;
}

}  // namespace strata::cli
