// strata logs and strata events: lines as they are written.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cli/daemon_client/control_client.hpp"
#include "cli/runtimes/line_sources.hpp"
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

constexpr std::uint64_t most_lines = 1000;

std::string target_of(const invocation& call, const std::string& path, std::uint64_t tail) {
  auto target = fmt::format("{}?tail={}", path, tail);
  if (call.is_set("follow")) target += "&follow=true";
  return target;
}

std::uint64_t tail_of(const invocation& call) { return call.flags.value("tail", most_lines); }

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

/// How the lines of a stream are shown.
struct line_form {
  std::string (*render)(const json&);
  std::string_view quiet_key;  ///< the only member in quiet output
  std::string_view type = {};  ///< only events of this type; empty: all
};

/// Holds lines until they are printed.
class line_printer {
 public:
  /// With a `width`, each line follows the name of its runtime.
  line_printer(const invocation& call, line_form form, moment since, std::size_t width = 0)
      : call_(call), form_(form), since_(since), width_(width) {}

  /// `name`: the runtime whose line it is; empty: none. Errors: failed, if the line is no JSON.
  outcome<> take(const std::string& name, const std::string& line) {
    auto value = parse_line_of_json(line);
    if (!value) return std::unexpected(value.error());
    const bool is_wanted = form_.type.empty() || text_at(*value, "type") == form_.type;
    if (!is_wanted || is_older(*value, since_)) return {};
    auto time = text_at(*value, "time");
    held_.push_back({.time = std::move(time), .text = shown_text(name, std::move(*value))});
    return {};
  }

  /// Sorts the lines that are held by time: those of one runtime are so already.
  void sort() { std::ranges::stable_sort(held_, {}, &held_line::time); }

  void print() {
    std::string shown;
    for (const auto& each : held_) shown += each.text;
    held_.clear();
    cli::print(shown);
  }

 private:
  struct held_line {
    std::string time;
    std::string text;
  };

  std::string shown_text(const std::string& name, json value) const {
    if (call_.as_json) {
      if (!name.empty()) value["runtime"] = name;
      return text::escaped_for_json(value.dump()) + '\n';
    }
    auto text = call_.quiet ? text_of(value, form_.quiet_key) + '\n' : form_.render(value);
    if (width_ == 0) return text;
    return fmt::format("{:<{}}  {}", text::printable(name), width_, text);
  }

  const invocation& call_;
  line_form form_;
  moment since_;
  std::size_t width_;
  std::vector<held_line> held_;
};

outcome<line_source> open_log(const invocation& call, const std::string& name, std::uint64_t tail) {
  auto stream =
      control_client(call.daemon).stream(target_of(call, runtime_target(name, "logs"), tail));
  if (!stream) return std::unexpected(stream.error());
  return line_source{.name = name, .stream = std::move(*stream)};
}

/// Shows the lines of the sources as they arrive.
outcome<> show_all(std::vector<line_source> sources, line_printer& printer) {
  return take_all(
      std::move(sources),
      [&printer](const auto& name, const auto& line) { return printer.take(name, line); },
      [&printer]() -> outcome<> {
        printer.print();
        return {};
      });
}

}  // namespace

// What is written already is read from one runtime after another, and shown in the order of time.
outcome<int> run_logs(const invocation& call) {
  const auto since = since_of(call);
  if (!since) return std::unexpected(since.error());
  control_client client(call.daemon);
  const auto named = name_sources(client, call);
  if (!named) return std::unexpected(named.error());
  line_printer printer(call, {.render = render_log, .quiet_key = "text"}, *since, named->width);
  const line_taker take = [&printer](const auto& name, const auto& line) {
    return printer.take(name, line);
  };
  std::vector<line_source> followed;
  const auto open = [&](const std::string& name) -> outcome<> {
    auto source = open_log(call, name, tail_of(call));
    if (!source) return std::unexpected(source.error());
    followed.push_back(std::move(*source));
    if (call.is_set("follow")) return {};
    return take_all(std::exchange(followed, {}), take, [] { return outcome<>(); });
  };
  const auto opened = open_sources(client, *named, open);
  if (!opened) return opened;
  if (named->width != 0) printer.sort();
  printer.print();
  if (!call.is_set("follow")) return opened;
  const auto shown = follow_all(
      call, *named, std::move(followed),
      [&call](const std::string& name) { return open_log(call, name, most_lines); }, take,
      [&printer]() -> outcome<> {
        printer.print();
        return {};
      });
  if (!shown) return std::unexpected(shown.error());
  return opened;
}

outcome<int> run_events(const invocation& call) { return show_events(call, {}); }

outcome<int> show_events(const invocation& call, std::string_view type) {
  const auto since = since_of(call);
  if (!since) return std::unexpected(since.error());
  auto stream = control_client(call.daemon).stream(target_of(call, "/v1/events", tail_of(call)));
  if (!stream) return std::unexpected(stream.error());
  line_printer printer(call, {.render = render_event, .quiet_key = "runtime", .type = type},
                       *since);
  std::vector<line_source> sources;
  sources.push_back({.name = {}, .stream = std::move(*stream)});
  if (auto shown = show_all(std::move(sources), printer); !shown) {
    return std::unexpected(shown.error());
  }
  return exit_done;
}

}  // namespace strata::cli
