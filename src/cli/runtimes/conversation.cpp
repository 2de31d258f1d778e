#include "cli/runtimes/conversation.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/terminal/line_editor.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "text/base64.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

/// Describes the runtime and how to use the session.
std::string banner(const json& detail) {
  const auto name = text::printable(text_at(detail, "name"));
  const bool is_client = text_at(detail, "type") == "client";
  const auto where = format_cell(detail.value("endpoints", json::array()), unit::none);
  const auto count = detail.value("connections", std::uint64_t{0});
  const auto state = !is_client   ? fmt::format("{} connection{}", count, count == 1 ? "" : "s")
                     : count != 0 ? std::string("connected")
                                  : std::string("not connected yet");
  return fmt::format(
      "{}: a {} at {}, {}. A line goes to {}; received messages are shown.\nCtrl-D or Ctrl-C "
      "leaves; the {} keeps running.\n",
      name, is_client ? "client" : "server", where, state,
      is_client ? "the other end" : "all connected clients", is_client ? "client" : "server");
}

using line_renderer = std::string (*)(const json&);

/// The lines that have arrived, each formatted by `render`; empty ones are left out.
outcome<std::string> show_arrived(line_stream& stream, line_renderer render) {
  std::string shown;
  for (const auto& line : stream.take_lines()) {
    const auto value = parse_line_of_json(line);
    if (!value) return std::unexpected(value.error());
    if (const auto text = render(*value); !text.empty()) shown += text + '\n';
  }
  return shown;
}

/// The output of a stream; nullopt at its end, or after an error, which is then in `ended`.
std::optional<std::string> receive(line_stream& stream, outcome<>& ended, line_renderer render) {
  ended = stream.wait();
  auto shown = show_arrived(stream, render);
  if (!shown) ended = std::unexpected(shown.error());
  if (!ended || (stream.ended() && shown->empty())) return {};
  return std::move(*shown);
}

/// A client's log shows the state of its connection.
std::string log_line(const json& logged) {
  return "-- " + text::printable(text_at(logged, "text"));
}

/// Most of a server's log is left to 'strata logs'.
std::string trouble_line(const json& logged) {
  const auto level = text_at(logged, "level");
  return level == "warning" || level == "error" ? log_line(logged) : std::string();
}

/// What happened to a message, if not the expected.
std::string shortfall(const json& answer) {
  if (answer.value("queued", std::uint64_t{0}) != 0) return "-- queued until connected\n";
  return answer.value("delivered", std::uint64_t{0}) == 0 ? "-- nobody is connected\n" : "";
}

}  // namespace

std::string message_bytes(const json& message) {
  const auto encoded = text_at(message, "base64");
  return encoded.empty() ? text_at(message, "text")
                         : text::base64_decode(encoded).value_or(encoded);
}

std::string message_line(const json& message) {
  const auto from = text::printable(text_at(message, "from"));
  const auto text = text::printable(message_bytes(message));
  return from.empty() ? text : fmt::format("[{}] {}", from, text);
}

std::unexpected<refusal> no_more_messages(const std::string& name) {
  return refuse(exit_failed, fmt::format("'{}' has no more messages: it was stopped or removed, or "
                                         "the daemon has ended",
                                         name));
}

outcome<int> converse(control_client& client, const json& detail, line_stream& messages) {
  const auto name = text_at(detail, "name");
  auto log = client.stream(runtime_target(name, "logs") + "?tail=0&follow=true");
  if (!log) return std::unexpected(log.error());
  const auto about_log = text_at(detail, "type") == "client" ? log_line : trouble_line;
  outcome<> ended;
  const side_channels beside{
      {.fd = messages.fd(), .receive = [&] { return receive(messages, ended, message_line); }},
      {.fd = log->fd(), .receive = [&] { return receive(*log, ended, about_log); }}};
  print(banner(detail));
  // Messages that arrived with the answer's head do not make the descriptor readable.
  const auto first = show_arrived(messages, message_line);
  if (!first) return std::unexpected(first.error());
  print(*first);
  line_editor editor("");
  for (;;) {
    const auto line = editor.read(text::printable(name) + "> ", beside);
    if (!line) print("\n");
    if (!ended) return std::unexpected(ended.error());
    if (messages.ended() || log->ended()) return no_more_messages(name);
    if (!line) return exit_done;
    if (!line->empty()) editor.remember(*line);
    const auto sent = client.ask(name, "send", *line);
    if (sent) {
      print(shortfall(*sent));
    } else if (sent.error().exit == exit_unreachable) {
      return std::unexpected(sent.error());
    } else {
      complain(sent.error().message);
    }
  }
}

}  // namespace strata::cli
