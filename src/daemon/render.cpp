#include "daemon/render.hpp"

#include <fmt/format.h>

#include "text/base64.hpp"

namespace strata::daemon {

namespace {

bool is_utf8(const std::string& text) {
  // The JSON library's own strict check: it refuses to dump what is not UTF-8.
  const nlohmann::json value = text;
  try {
    (void)value.dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

struct metric {
  const char* name;
  const char* kind;
  const char* help;
  std::uint64_t (*value)(const runtime::statistics&);
};

using figures = runtime::statistics;

constexpr metric metrics[] = {
    {"strata_connections", "gauge", "connections now",
     [](const figures& of) { return of.connections_now; }},
    {"strata_connections_total", "counter", "connections ever",
     [](const figures& of) { return of.connections_total; }},
    {"strata_connections_refused_total", "counter", "connections refused",
     [](const figures& of) { return of.connections_refused; }},
    {"strata_messages_in_total", "counter", "messages received",
     [](const figures& of) { return of.messages_in; }},
    {"strata_messages_out_total", "counter", "messages handed to connections",
     [](const figures& of) { return of.messages_out; }},
    {"strata_bytes_in_total", "counter", "bytes received",
     [](const figures& of) { return of.bytes_in; }},
    {"strata_bytes_out_total", "counter", "bytes handed to connections",
     [](const figures& of) { return of.bytes_out; }},
    {"strata_errors_total", "counter", "errors", [](const figures& of) { return of.errors; }},
    {"strata_loop_lag_microseconds", "gauge", "time that the loop's last turn took",
     [](const figures& of) { return of.lag_us; }},
};

}  // namespace

std::string dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json summary_json(const entry& of, loop::time_point now) {
  const auto& common = of.body->common();
  return {{"name", of.name},
          {"type", of.type->name},
          {"state", name_of(of.state)},
          {"reason", of.reason},
          {"endpoints", of.body->endpoints()},
          {"connections", of.body->stats().connections_now},
          {"group", common.group},
          {"owner", common.owner},
          {"created_at", of.created_at},
          {"uptime_s", of.uptime_s(now)}};
}

nlohmann::json detail_json(const entry& of, const registry& all, loop::time_point now) {
  auto json = summary_json(of, now);
  json["on_parent_stop"] = of.body->common().on_parent_stop;
  json["children"] = all.children(of.name);
  json["options"] = of.body->options(false);
  return json;
}

nlohmann::json stats_json(const entry& of, loop::time_point now) {
  const auto stats = of.body->stats();
  auto dropped = nlohmann::json::object();
  for (std::size_t i = 0; i < stats.dropped.size(); ++i) {
    dropped[runtime::drop_names[i]] = stats.dropped[i];
  }
  return {{"name", of.name},
          {"type", of.type->name},
          {"state", name_of(of.state)},
          {"uptime_s", of.uptime_s(now)},
          {"connections",
           {{"now", stats.connections_now},
            {"peak", stats.connections_peak},
            {"total", stats.connections_total},
            {"refused", stats.connections_refused}}},
          {"messages", {{"in", stats.messages_in}, {"out", stats.messages_out}}},
          {"bytes", {{"in", stats.bytes_in}, {"out", stats.bytes_out}}},
          {"dropped", dropped},
          {"errors", stats.errors},
          {"rates",
           {{"in_1s", static_cast<double>(stats.in_1s)},
            {"in_1m", static_cast<double>(stats.in_1m) / 60},
            {"out_1s", static_cast<double>(stats.out_1s)},
            {"out_1m", static_cast<double>(stats.out_1m) / 60}}},
          {"loop", {{"lag_us", stats.lag_us}, {"lag_max_us", stats.lag_max_us}}}};
}

std::string log_line_json(const runtime::journal_line& line) {
  return dump({{"time", runtime::format_time(line.time)},
               {"level", runtime::name_of(line.severity)},
               {"text", line.subject.empty() ? line.text : line.subject + ": " + line.text}}) +
         "\n";
}

std::string message_json(const runtime::journal_line& line) {
  nlohmann::json json = {{"time", runtime::format_time(line.time)}, {"from", line.subject}};
  if (is_utf8(line.text)) {
    json["text"] = line.text;
  } else {
    json["base64"] = text::base64_encode(as_bytes(line.text));
  }
  return dump(json) + "\n";
}

std::string event_json(const runtime::journal_line& line) {
  auto json = nlohmann::json::parse(line.text, nullptr, false);
  if (!json.is_object()) json = {{"event", "lost"}, {"detail", line.text}};
  json["time"] = runtime::format_time(line.time);
  return dump(json) + "\n";
}

std::string metrics_text(const registry& all) {
  std::string text;
  std::vector<std::pair<const entry*, runtime::statistics>> read;
  for (const auto& [name, each] : all.all()) read.emplace_back(each.get(), each->body->stats());
  const auto label = [](const entry& of) {
    return fmt::format("name=\"{}\",type=\"{}\"", of.name, of.type->name);
  };
  for (const auto& each : metrics) {
    text += fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", each.name, each.kind, each.help);
    for (const auto& [of, stats] : read) {
      text += fmt::format("{}{{{}}} {}\n", each.name, label(*of), each.value(stats));
    }
  }
  text +=
      "# HELP strata_dropped_total messages dropped, by reason\n"
      "# TYPE strata_dropped_total counter\n";
  for (const auto& [of, stats] : read) {
    for (std::size_t i = 0; i < stats.dropped.size(); ++i) {
      text += fmt::format("strata_dropped_total{{{},reason=\"{}\"}} {}\n", label(*of),
                          runtime::drop_names[i], stats.dropped[i]);
    }
  }
  text += "# HELP strata_up 1 while the runtime runs\n# TYPE strata_up gauge\n";
  for (const auto& [of, stats] : read) {
    text +=
        fmt::format("strata_up{{{}}} {}\n", label(*of), of->state == run_state::running ? 1 : 0);
  }
  return text;
}

}  // namespace strata::daemon
