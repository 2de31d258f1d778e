// strata start -i NAME: sends lines of input as messages, and shows received messages. A cache has
// a prompt of its own.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/prompt/dialogue.hpp"
#include "cli/prompt/prompt.hpp"
#include "cli/runtimes/conversation.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/screen.hpp"
#include "cli/terminal/table.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

/// The runtime keeps running, so there is nothing to clean up: the program can exit at any point.
extern "C" void leave(int) {
  constexpr std::string_view farewell = "\n";
  (void)!::write(STDERR_FILENO, farewell.data(), farewell.size());
  ::_exit(exit_done);
}

/// Quiet output is the message's own bytes, for programs; on a terminal without anything that the
/// terminal would interpret.
std::string render(const invocation& call, const json& message) {
  if (call.as_json) return text::escaped_for_json(message.dump());
  if (!call.quiet) return message_line(message);
  const auto bytes = message_bytes(message);
  return has_screen() ? text::printable(bytes) : bytes;
}

outcome<> show_messages(const invocation& call, const std::vector<std::string>& lines) {
  std::string shown;
  for (const auto& line : lines) {
    const auto message = parse_line_of_json(line);
    if (!message) return std::unexpected(message.error());
    shown += render(call, *message) + "\n";
  }
  print(shown);
  return {};
}

/// Reads what standard input has; returns false at its end. Text behind the last line end is a
/// message once the input ends.
outcome<bool> read_input(text::line_splitter& splitter, std::vector<std::string>& lines) {
  std::array<char, 65536> buffer;
  const auto got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (got < 0 && errno == EINTR) return true;
  if (got < 0) return refuse(exit_failed, system_error(errno, "read standard input"));
  lines = splitter.feed({buffer.data(), static_cast<std::size_t>(got)});
  if (got == 0) lines = splitter.finish();
  return got != 0;
}

/// A message that cannot be sent is reported, and the session continues.
outcome<> send_lines(control_client& client, const std::string& name,
                     const std::vector<std::string>& lines) {
  for (const auto& line : lines) {
    const auto answer = client.ask(name, "send", line);
    if (answer) continue;
    if (answer.error().exit == exit_unreachable) return std::unexpected(answer.error());
    complain(answer.error().message);
  }
  return {};
}

outcome<int> talk(const invocation& call, control_client& client, line_stream& stream) {
  const auto& name = call.words[0];
  text::line_splitter splitter;
  std::array<pollfd, 2> ready{{{STDIN_FILENO, POLLIN, 0}, {stream.fd(), POLLIN, 0}}};
  for (;;) {
    auto shown = show_messages(call, stream.take_lines());
    if (!shown) return std::unexpected(shown.error());
    if (stream.ended()) {
      return no_more_messages(name);
    }
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;  // interrupted by a signal
    if (ready[1].revents != 0) {
      if (auto more = stream.wait(); !more) return std::unexpected(more.error());
    }
    if (ready[0].revents == 0) continue;
    std::vector<std::string> lines;
    const auto more = read_input(splitter, lines);
    if (!more) return std::unexpected(more.error());
    if (auto sent = send_lines(client, name, lines); !sent) return std::unexpected(sent.error());
    if (!*more) return exit_done;
  }
}

}  // namespace

outcome<int> run_interactive(const invocation& call) {
  if (call.words.size() != 1 || names_several(call.words[0])) {
    return refuse(exit_misused, "-i takes a single runtime: strata start -i NAME");
  }
  const auto& name = call.words[0];
  control_client client(call.daemon);
  auto detail = client.get(runtime_target(name));
  if (!detail) return std::unexpected(detail.error());
  if (text_at(*detail, "type") == "proxy") {
    return refuse(exit_misused,
                  fmt::format("'{0}' is a proxy, which only forwards: start it without -i; strata "
                              "top, strata backends {0} and strata logs {0} show what it does",
                              name));
  }
  if (text_at(*detail, "state") != "running") {
    detail = client.post(runtime_target(name, "start"));
    if (!detail) return std::unexpected(detail.error());
  }
  std::signal(SIGINT, leave);
  if (text_at(*detail, "type") == "cache") {
    const auto endpoint = endpoint_of_cache(*detail, call.daemon);
    if (!endpoint) return std::unexpected(endpoint.error());
    return run_cache_prompt(call, name, *endpoint, password_of_environment());
  }
  auto stream = client.stream(runtime_target(name, "messages"));
  if (!stream) return std::unexpected(stream.error());
  const bool is_typed = ::isatty(STDIN_FILENO) == 1 && has_screen();
  if (is_typed && !call.as_json && !call.quiet) return converse(client, *detail, *stream);
  return talk(call, client, *stream);
}

}  // namespace strata::cli
