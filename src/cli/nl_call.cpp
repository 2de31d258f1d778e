// strata nl call and listen
#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/interrupt.hpp"
#include "cli/nl_arguments.hpp"
#include "cli/nl_text.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/verbs.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

using clock = std::chrono::steady_clock;

outcome<std::uint8_t> command_word(const std::string& word) {
  std::uint8_t command = 0;
  const char* const end = word.data() + word.size();
  const auto [rest, code] = std::from_chars(word.data(), end, command);
  if (code == std::errc{} && rest == end) return command;
  return refuse(exit_misused,
                fmt::format("'{}' is no command: write its number, 0 to 255; 'strata nl show "
                            "FAMILY' lists them",
                            word));
}

json message_to_json(const wire::genl_message& message) {
  return {{"command", message.command}, {"attributes", attributes_to_json(message.attributes)}};
}

/// Messages as they come: lines, or one JSON array.
class message_sink {
 public:
  explicit message_sink(bool as_json) : as_json_(as_json) {}

  void take(const wire::netlink_message& raw) {
    const auto message = wire::genl_message::parse(raw);
    if (!message || raw.is(wire::netlink_control::error)) return;
    const bool is_first = !std::exchange(begun_, true);
    if (as_json_) {
      print((is_first ? "[\n" : ",\n") + message_to_json(*message).dump());
    } else {
      print(fmt::format("command {}\n{}", message->command,
                        render_attributes(message->attributes, 2)));
    }
  }
  void end() const {
    if (as_json_) print(begun_ ? "\n]\n" : "[]\n");
  }

 private:
  bool as_json_;
  bool begun_ = false;
};

outcome<wire::netlink_writer> request_of(const invocation& call, nl::generic& on,
                                         const nl::generic_family& family) {
  const auto command = command_word(call.words[1]);
  if (!command) return std::unexpected(command.error());
  const bool is_dump = call.is_set("dump");
  const auto policy = on.policy(family);
  const auto* const table = policy ? policy->table_of(*command, is_dump) : nullptr;
  auto request = on.over().request();
  wire::begin_genl(
      request, family.id,
      wire::netlink_flag::request | (is_dump ? wire::netlink_flag::dump : wire::netlink_flag::ack),
      *command, static_cast<std::uint8_t>(family.version));
  const auto typed = call.flags.value("attr", std::vector<std::string>{});
  auto written = write_attributes(request, typed, policy ? &*policy : nullptr, table);
  if (!written) return std::unexpected(written.error());
  return request;
}

}  // namespace

outcome<int> run_nl_call(const invocation& call) {
  auto on = nl::generic::open();
  if (!on) return refuse_family(on.error());
  const auto family = on->family(call.words[0]);
  if (!family) return refuse_family(family.error());
  auto request = request_of(call, *on, *family);
  if (!request) return std::unexpected(request.error());
  const auto operation =
      fmt::format("call command {} of the family '{}'", call.words[1], call.words[0]);
  message_sink sink(call.as_json);
  if (call.is_set("dump")) {
    const auto done = on->over().dump(*request, operation,
                                      [&](const wire::netlink_message& each) { sink.take(each); });
    sink.end();
    if (!done) return refuse(exit_failed, done.error());
    return exit_done;
  }
  const auto reply = on->over().ask(*request, operation);
  if (!reply) return refuse(exit_failed, reply.error());
  sink.take(*reply);
  sink.end();
  return exit_done;
}

outcome<int> run_nl_listen(const invocation& call) {
  auto on = nl::generic::open();
  if (!on) return refuse_family(on.error());
  const auto family = on->family(call.words[0]);
  if (!family) return refuse_family(family.error());
  const auto* const group = family->find_group(call.words[1]);
  if (group == nullptr) {
    return refuse(exit_not_found,
                  fmt::format("the family '{}' has no group '{}'; 'strata nl show {}' lists them",
                              call.words[0], call.words[1], call.words[0]));
  }
  if (auto joined = on->over().join(group->id); !joined) return refuse(exit_failed, joined.error());
  watch_for_interrupt();
  complain(fmt::format("listening to '{}' of '{}'", group->name, family->name));
  const auto most = call.flags.value("count", std::uint64_t{UINT64_MAX});
  const std::chrono::duration<double> silence(call.flags.value("timeout", 1e9));
  auto last = clock::now();
  message_sink sink(call.as_json);
  for (std::uint64_t heard = 0; heard < most && !is_interrupted();) {
    const auto event = on->over().try_event();
    if (!event) {
      complain(describe(event.error()));
      if (event.error().sys_errno != ENOBUFS) break;
      continue;
    }
    if (*event) {
      sink.take(**event);
      last = clock::now();
      ++heard;
      continue;
    }
    if (clock::now() - last > silence) break;
    constexpr int longest_wait_ms = 100;
    pollfd ready{on->over().fd(), POLLIN, 0};
    ::poll(&ready, 1, longest_wait_ms);
  }
  sink.end();
  return exit_done;
}

}  // namespace strata::cli
