// strata send NAME [MESSAGE|-]
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "cli/daemon_client/control_client.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

struct tally {
  std::uint64_t messages = 0;
  std::uint64_t delivered = 0;
  std::uint64_t queued = 0;
};

outcome<> send_one(control_client& client, const std::string& name, std::string_view message,
                   tally& sent) {
  const auto answer = client.ask(name, "send", message);
  if (!answer) return std::unexpected(answer.error());
  ++sent.messages;
  sent.delivered += count_at(*answer, "delivered");
  sent.queued += count_at(*answer, "queued");
  return {};
}

/// Stops at the first line that fails: later lines may depend on it.
outcome<> send_lines(control_client& client, const std::string& name, tally& sent) {
  text::line_splitter splitter;
  std::array<char, 65536> buffer;
  for (;;) {
    const auto got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refuse(exit_failed, system_error(errno, "read standard input"));
    auto lines = splitter.feed({buffer.data(), static_cast<std::size_t>(got)});
    if (got == 0) lines = splitter.finish();
    for (const auto& line : lines) {
      auto done = send_one(client, name, line, sent);
      if (done) continue;
      const auto message = fmt::format("line {}: {}", sent.messages + 1, done.error().message);
      return refuse(done.error().exit, message);
    }
    if (got == 0) return {};
  }
}

std::string count_of(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void show(const invocation& call, const tally& sent, bool from_input) {
  if (call.as_json) {
    json answer = {{"delivered", sent.delivered}, {"queued", sent.queued}};
    if (from_input) answer["messages"] = sent.messages;
    return print_json(answer);
  }
  if (call.quiet) return;
  std::string text;
  if (from_input) text = count_of(sent.messages, "message") + ": ";
  text += "delivered to " + count_of(sent.delivered, "connection");
  if (sent.queued > 0) text += fmt::format(", {} queued until connected", sent.queued);
  print(text + "\n");
}

}  // namespace

outcome<int> run_send(const invocation& call) {
  control_client client(call.daemon);
  const auto& name = call.words[0];
  const bool from_input = call.words.size() == 1 || call.is_dash(1);
  tally sent;
  const auto done =
      from_input ? send_lines(client, name, sent) : send_one(client, name, call.words[1], sent);
  if (!done && sent.messages == 0) return std::unexpected(done.error());
  show(call, sent, from_input);
  if (!done) return std::unexpected(done.error());
  return exit_done;
}

}  // namespace strata::cli
