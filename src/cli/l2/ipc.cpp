// strata l2 ipc
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/l2/rows.hpp"
#include "cli/terminal/input_lines.hpp"
#include "cli/terminal/interrupt.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "strata/ipc/channel.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

std::optional<std::chrono::milliseconds> timeout_of(const invocation& call) {
  if (!call.flags.contains("timeout")) return std::nullopt;
  return std::chrono::milliseconds(
      static_cast<std::int64_t>(call.flags.value("timeout", 0.0) * 1000));
}

outcome<int> send_messages(const invocation& call, ipc::channel& channel) {
  std::uint64_t sent = 0;
  const auto send = [&](std::string_view message) -> outcome<> {
    if (auto done = channel.send(as_bytes(message)); !done)
      return refuse(exit_failed, done.error());
    ++sent;
    return {};
  };
  const bool from_input = call.words.size() < 3 || call.words[2] == "-";
  const auto done = from_input ? for_each_input_line(send) : send(call.words[2]);
  if (!done) return std::unexpected(done.error());
  if (auto finished = channel.finish(timeout_of(call).value_or(5000ms)); !finished) {
    return refuse(exit_failed, finished.error());
  }
  if (call.as_json) print_json({{"messages", sent}});
  return exit_done;
}

outcome<int> show_messages(const invocation& call, ipc::channel& channel) {
  watch_for_interrupt();
  const auto most = call.flags.value("count", std::uint64_t{UINT64_MAX});
  const auto silence = timeout_of(call);
  std::uint64_t received = 0;
  auto last = std::chrono::steady_clock::now();
  auto messages = json::array();
  while (received < most && !is_interrupted()) {
    const auto message = channel.receive_with_timeout(interrupt_interval);
    if (message) {
      ++received;
      last = std::chrono::steady_clock::now();
      const auto text = text::printable(as_text(*message));
      if (call.as_json)
        messages.push_back({{"message", text}, {"size", message->size()}});
      else
        print(text + "\n");
    } else if (message.error().code != errc::timed_out) {
      // The other end has gone, or the link is down: another end may come.
      complain(describe(message.error()));
    } else if (silence && std::chrono::steady_clock::now() - last > *silence) {
      break;
    }
  }
  if (call.as_json) print_json(messages);
  const auto counted = channel.statistics();
  if (const auto lost = counted.messages_lost + counted.dropped; lost != 0) {
    complain(fmt::format("{} messages or frames were lost: they arrived faster than they were read",
                         lost));
  }
  return received == 0 && silence && !is_interrupted() ? exit_failed : exit_done;
}

}  // namespace

outcome<int> run_l2_ipc(const invocation& call) {
  const bool sends = call.words[0] == "send";
  if (!sends && call.words[0] != "recv") {
    return refuse(exit_misused,
                  fmt::format("'{}' is neither send nor recv", text::printable(call.words[0])));
  }
  if (!sends && call.words.size() > 2) {
    return refuse(exit_misused, "recv takes only the name of a channel");
  }
  auto channel = ipc::channel::create({.interface_name = call.text("iface", "lo"),
                                       .channel = call.words[1],
                                       .acknowledged = call.is_set("acknowledged")});
  if (!channel) {
    const bool missing = channel.error().code == errc::not_found;
    return refuse(missing ? exit_not_found : exit_failed, channel.error());
  }
  return sends ? send_messages(call, *channel) : show_messages(call, *channel);
}

}  // namespace strata::cli
