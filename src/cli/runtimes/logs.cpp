// strata logs NAME and strata events: lines as they are written.
#include <fmt/format.h>

#include <chrono>

#include "cli/daemon_client/control_client.hpp"
#include "cli/runtimes/moment.hpp"
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
  return align({{text_of(event, "time"), fmt::format("{:<9}", text_of(event, "event")),
                 fmt::format("{} {}{}{}", text_of(event, "type"), text_of(event, "runtime"),
                             detail.empty() ? "" : ": ", detail)}});
}

std::string target_of(const invocation& call, const std::string& path) {
  auto target = fmt::format("{}?tail={}", path, call.flags.value("tail", 1000U));
  if (call.is_set("follow")) target += "&follow=true";
  return target;
}

outcome<moment> since_of(const invocation& call) {
  const auto text = call.text("since");
  if (text.empty() && !call.flags.contains("since")) return moment::min();
  const auto now = std::chrono::system_clock::now();
  return parse_since(text, std::chrono::floor<std::chrono::milliseconds>(now));
}

/// A line without a readable time is not left out.
bool is_older(const json& line, moment since) {
  const auto at = parse_rfc3339(text_at(line, "time"));
  return at && *at < since;
}

/// `quiet_key` is the only member shown in quiet output. Unless `type` is empty, only events of
/// that type are shown.
outcome<int> show_stream(const invocation& call, const std::string& path,
                         std::string (*render)(const json&), std::string_view quiet_key,
                         std::string_view type = {}) {
  const auto since = since_of(call);
  if (!since) return std::unexpected(since.error());
  auto stream = control_client(call.daemon).stream(target_of(call, path));
  if (!stream) return std::unexpected(stream.error());
  for (;;) {
    const auto lines = stream->take_lines();
    std::string shown;
    for (const auto& line : lines) {
      const auto value = parse_line_of_json(line);
      if (!value) return std::unexpected(value.error());
      const bool is_wanted = type.empty() || text_at(*value, "type") == type;
      if (!is_wanted || is_older(*value, *since)) continue;
      shown += call.as_json ? text::escaped_for_json(value->dump()) + '\n'
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

outcome<int> run_events(const invocation& call) { return show_events(call, {}); }

outcome<int> show_events(const invocation& call, std::string_view type) {
  return show_stream(call, "/v1/events", render_event, "runtime", type);
}

}  // namespace strata::cli
