// strata logs NAME and strata events: lines as they come.
#include <fmt/format.h>

#include "cli/daemon_client/control_client.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

std::string text_of(const json& line, std::string_view key) {
  return text::printable(text_at(line, key));
}

std::string render_log(const json& line) {
  return align({{text_of(line, "time"), fmt::format("{:<7}", text_of(line, "level")),
                 text_of(line, "text")}});
}

std::string render_event(const json& event) {
  const auto detail = text_of(event, "detail");
  return align({{text_of(event, "time"), fmt::format("{:<7}", text_of(event, "event")),
                 fmt::format("{} {}{}{}", text_of(event, "type"), text_of(event, "runtime"),
                             detail.empty() ? "" : ": ", detail)}});
}

std::string target_of(const invocation& call, const std::string& path) {
  auto target = fmt::format("{}?tail={}", path, call.flags.value("tail", 1000U));
  if (call.is_set("follow")) target += "&follow=true";
  return target;
}

/// `quiet_key` is the member that is shown alone when quiet.
outcome<int> show_stream(const invocation& call, const std::string& path,
                         std::string (*render)(const json&), std::string_view quiet_key) {
  auto stream = control_client(call.socket).stream(target_of(call, path));
  if (!stream) return std::unexpected(stream.error());
  for (;;) {
    const auto lines = stream->take_lines();
    std::string shown;
    for (const auto& line : lines) {
      const auto value = parse_line_of_json(line);
      if (!value) return std::unexpected(value.error());
      shown += call.as_json ? value->dump() + '\n'
               : call.quiet ? text_of(*value, quiet_key) + '\n'
                            : render(*value);
    }
    print(shown);
    if (stream->ended()) return exit_done;
    if (auto more = stream->wait(); !more) return std::unexpected(more.error());
  }
}

}  // namespace

outcome<int> run_logs(const invocation& call) {
  return show_stream(call, runtime_target(call.words[0], "logs"), render_log, "text");
}

outcome<int> run_events(const invocation& call) {
  return show_stream(call, "/v1/events", render_event, "runtime");
}

}  // namespace strata::cli
