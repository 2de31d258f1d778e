#include "daemon/supervisor/render.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/supervisor/collisions.hpp"
#include "net/scheme.hpp"
#include "runtime/event.hpp"
#include "runtime/options/labels.hpp"
#include "text/base64.hpp"
#include "text/nearest.hpp"
#include "text/utf8.hpp"

namespace strata::daemon {

namespace {

/// A runtime and its figures at one moment.
struct reading {
  const entry* of;
  std::vector<nlohmann::json> values;
  std::vector<std::vector<runtime::detail>> details;

  [[nodiscard]] const nlohmann::json* value(const options::figure_row& row) const {
    const auto& rows = of->type->figures();
    const auto found = std::ranges::find(rows, row.key, &options::figure_row::key);
    return found == rows.end() ? nullptr : &values[static_cast<std::size_t>(found - rows.begin())];
  }
  [[nodiscard]] std::string label() const {
    return fmt::format("name=\"{}\",type=\"{}\"", of->name(), of->type->name);
  }
};

/// A value, and the labels that identify it.
struct sample {
  std::string label;
  const nlohmann::json* value;
};

// Prometheus expects seconds, and each count to include those of all shorter times.
std::string histogram_lines(std::string_view metric, const sample& sample) {
  std::string text;
  for (const auto us : options::latency::bounds_us()) {
    const auto within = fmt::format("{}", static_cast<double>(us) / 1e3);
    text +=
        fmt::format("{}_bucket{{{},le=\"{}\"}} {}\n", metric, sample.label,
                    static_cast<double>(us) / 1e6, sample.value->at("within_ms").at(within).dump());
  }
  const auto count = sample.value->at("count").dump();
  text += fmt::format("{}_bucket{{{},le=\"+Inf\"}} {}\n", metric, sample.label, count);
  text += fmt::format("{}_sum{{{}}} {}\n", metric, sample.label,
                      sample.value->at("sum_ms").get<double>() / 1e3);
  return text + fmt::format("{}_count{{{}}} {}\n", metric, sample.label, count);
}

std::string lines_of(const options::figure_row& row, const sample& sample) {
  if (row.kind == options::figure_kind::latency) return histogram_lines(row.metric, sample);
  if (row.cases.empty())
    return fmt::format("{}{{{}}} {}\n", row.metric, sample.label, sample.value->dump());
  std::string text;
  for (const auto& name : row.cases) {
    const auto counted = sample.value->find(std::string(name));
    if (counted == sample.value->end()) continue;
    text += fmt::format("{}{{{},{}=\"{}\"}} {}\n", row.metric, sample.label, row.label, name,
                        counted->dump());
  }
  return text;
}

std::string_view metric_type(options::figure_kind kind) {
  if (kind == options::figure_kind::latency) return "histogram";
  return kind == options::figure_kind::counter ? "counter" : "gauge";
}

std::string metric_text(const options::figure_row& row, const std::vector<sample>& samples) {
  auto text =
      fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", row.metric, row.help, metric_type(row.kind));
  for (const auto& each : samples) text += lines_of(row, each);
  return text;
}

std::string metric_text(const options::figure_row& row, const std::vector<reading>& all) {
  std::vector<sample> samples;
  for (const auto& each : all) {
    if (const auto* const value = each.value(row)) samples.push_back({each.label(), value});
  }
  return metric_text(row, samples);
}

std::string detail_labels(const runtime::detail_row& kind, const runtime::detail& detail) {
  std::string text;
  for (std::size_t at = 0; at < kind.labels.size(); ++at) {
    text += fmt::format(",{}={}", kind.labels[at], dump(detail.labels[at]));
  }
  return text;
}

/// Metrics of objects within runtimes; empty if there are none.
std::string detail_metrics(const std::vector<reading>& all) {
  std::string text;
  for (const auto& type : runtime::types()) {
    if (type.details == nullptr) continue;
    const auto kinds = type.details();
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      const auto& figures = kinds[kind].figures;
      for (std::size_t at = 0; at < figures.size(); ++at) {
        std::vector<sample> samples;
        for (const auto& each : all) {
          if (each.of->type != &type) continue;
          for (const auto& one : each.details[kind]) {
            samples.push_back({each.label() + detail_labels(kinds[kind], one), &one.values[at]});
          }
        }
        if (!samples.empty()) text += metric_text(figures[at], samples);
      }
    }
  }
  return text;
}

std::string certificate_metrics(const entry_list& all) {
  constexpr auto* name = "strata_tls_certificate_expiry_seconds";
  std::string text;
  for (const auto& each : all.all()) {
    if (each->state != run_state::running) continue;
    for (const auto& shown : each->body->certificates()) {
      text +=
          fmt::format("{}{{name=\"{}\",type=\"{}\",file={}}} {}\n", name, each->name(),
                      each->type->name, dump(shown.at("file")), shown.at("expires_in_s").dump());
    }
  }
  if (text.empty()) return text;
  return fmt::format("# HELP {0} seconds until a certificate expires\n# TYPE {0} gauge\n", name) +
         text;
}

// The endpoint or the runtime itself may restrict access.
nlohmann::json reach_json(const runtime::runtime& runtime) {
  if (!runtime.listens()) return nullptr;
  const auto endpoints = runtime.endpoints();
  const bool is_reachable = std::ranges::any_of(endpoints, [](const std::string& text) {
    const auto url = net::parse_endpoint(text);
    return url && !url->is_of_this_machine();
  });
  return is_reachable && runtime.serves_strangers() ? "network" : "machine";
}

nlohmann::json details_json(const runtime::detail_row& kind,
                            const std::vector<runtime::detail>& all) {
  auto made = nlohmann::json::array();
  for (const auto& each : all) {
    auto& object = made.emplace_back();
    for (std::size_t at = 0; at < kind.labels.size(); ++at) {
      object[std::string(kind.labels[at])] = each.labels[at];
    }
    for (std::size_t at = 0; at < kind.figures.size(); ++at) {
      object[std::string(kind.figures[at].key)] = each.values[at];
    }
  }
  return made;
}

nlohmann::json next_start_json(const entry& entry, loop::time_point now) {
  if (!entry.next_start) return nullptr;
  return std::max(0.0, std::chrono::duration<double>(*entry.next_start - now).count());
}

}  // namespace

std::string dump(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string warning_of(const entry& entry, const entry_list& all) {
  if (auto given = entry.body->warning(); !given.empty()) return given;
  for (const auto& name : entry.body->needs()) {
    if (all.is_known(name)) continue;
    return fmt::format("runtime not found: it connects to '{}', but no runtime has this name{}",
                       name, text::did_you_mean(name, all.known_names()));
  }
  if (entry.state != run_state::running) return {};
  const auto awaited = awaited_interface(entry);
  if (awaited.empty()) return {};
  return fmt::format("it waits for the interface '{}', which does not exist", awaited);
}

nlohmann::json summary_json(const entry& entry, const entry_list& all, loop::time_point now) {
  const auto& common = entry.body->common();
  return {{"name", entry.name()},
          {"type", entry.type->name},
          {"state", name_of(entry.shown_state())},
          {"reason", entry.reason},
          {"warning", warning_of(entry, all)},
          {"endpoints", entry.body->endpoints()},
          {"reach", reach_json(*entry.body)},
          {"connections", entry.body->stats().connections_now.get()},
          {"group", common.group},
          {"owner", common.owner},
          {"labels", runtime::labels_json(common.label)},
          {"created_at", entry.desired.created_at},
          {"uptime_s", entry.uptime_s(now)},
          {"next_start_in_s", next_start_json(entry, now)}};
}

nlohmann::json list_json(const entry_list& all, loop::time_point now) {
  std::map<std::string, nlohmann::json> rows;
  for (const auto& each : all.all()) {
    rows[each->name()] = summary_json(*each, all, now);
  }
  for (const auto& [name, kept] : all.unusable()) {
    rows[name] = {{"name", name},
                  {"type", kept.type},
                  {"state", name_of(run_state::failed)},
                  {"reason", "it could not be restored: " + kept.reason},
                  {"warning", ""},
                  {"endpoints", nlohmann::json::array()},
                  {"reach", nullptr},
                  {"connections", 0},
                  {"group", ""},
                  {"owner", ""},
                  {"labels", nlohmann::json::object()},
                  {"created_at", ""},
                  {"uptime_s", 0},
                  {"next_start_in_s", nullptr}};
  }
  auto list = nlohmann::json::array();
  for (auto& [name, row] : rows) list.push_back(std::move(row));
  return list;
}

nlohmann::json detail_json(const entry& entry, const entry_list& all, loop::time_point now) {
  auto json = summary_json(entry, all, now);
  json["on_parent_stop"] = entry.body->common().on_parent_stop;
  json["children"] = all.children(entry.name());
  json["options"] = entry.body->options(false);
  json["pending"] = entry.body->pending_options();
  json["certificates"] = entry.body->certificates();
  json["revision"] = entry.stored.revision;
  json["origin"] = entry.desired.origin;
  return json;
}

nlohmann::json stats_json(const entry& entry, loop::time_point now) {
  nlohmann::json json = {{"name", entry.name()},
                         {"type", entry.type->name},
                         {"state", name_of(entry.shown_state())},
                         {"uptime_s", entry.uptime_s(now)}};
  const auto& rows = entry.type->figures();
  auto values = entry.body->figures();
  for (std::size_t at = 0; at < rows.size(); ++at) {
    json[nlohmann::json::json_pointer(json_pointer(rows[at]))] = std::move(values[at]);
  }
  const auto kinds = entry.type->details != nullptr ? entry.type->details()
                                                    : std::span<const runtime::detail_row>();
  const auto details = entry.body->details();
  for (std::size_t at = 0; at < kinds.size(); ++at) {
    json[std::string(kinds[at].key)] = details_json(kinds[at], details[at]);
  }
  return json;
}

nlohmann::json stats_json(const entry_list& all, loop::time_point now) {
  auto list = nlohmann::json::array();
  for (const auto& each : all.all()) list.push_back(stats_json(*each, now));
  return list;
}

std::string log_line_json(const runtime::journal_line& line) {
  return dump({{"time", runtime::format_time(line.time)},
               {"level", runtime::name_of(line.severity)},
               {"text", line.subject.empty() ? line.text : line.subject + ": " + line.text}});
}

std::string message_json(const runtime::journal_line& line) {
  nlohmann::json json = {{"time", runtime::format_time(line.time)}, {"from", line.subject}};
  if (text::is_utf8(line.text)) {
    json["text"] = line.text;
  } else {
    json["base64"] = text::base64_encode(as_bytes(line.text));
  }
  return dump(json);
}

std::string event_json(const runtime::journal_line& line) { return dump(runtime::event_of(line)); }

std::string metrics_text(const entry_list& all) {
  std::vector<reading> read;
  for (const auto& each : all.all()) {
    read.emplace_back(each.get(), each->body->figures(), each->body->details());
  }
  std::string text;
  // Figures by case come last.
  for (const bool by_case : {false, true}) {
    for (const auto& row : runtime::all_figures()) {
      if (!row.metric.empty() && row.cases.empty() != by_case) text += metric_text(row, read);
    }
  }
  text += detail_metrics(read);
  text += certificate_metrics(all);
  text += "# HELP strata_up 1 while the runtime runs\n# TYPE strata_up gauge\n";
  for (const auto& each : read) {
    text += fmt::format("strata_up{{{}}} {}\n", each.label(),
                        each.of->state == run_state::running ? 1 : 0);
  }
  for (const auto& [name, kept] : all.unusable()) {
    text += fmt::format("strata_up{{name={},type={}}} 0\n", dump(name), dump(kept.type));
  }
  return text;
}

}  // namespace strata::daemon
