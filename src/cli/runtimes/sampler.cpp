#include "cli/runtimes/sampler.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "cli/daemon_client/names.hpp"
#include "cli/terminal/table.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

/// Null if there is none.
json number_at(const json& object, const std::string& pointer) {
  const json::json_pointer at(pointer);
  if (!object.is_object() || !object.contains(at)) return nullptr;
  const auto& found = object.at(at);
  return found.is_number() ? found : json(nullptr);
}

std::optional<double> sum_at(const json& object, const std::string& one, const std::string& other) {
  const auto first = number_at(object, one);
  const auto second = number_at(object, other);
  if (first.is_null() || second.is_null()) return std::nullopt;
  return first.get<double>() + second.get<double>();
}

json p99_at(const json& object, const std::string& pointer) {
  const auto count = number_at(object, pointer + "/count");
  return count.is_null() || count == 0 ? json(nullptr) : number_at(object, pointer + "/p99_ms");
}

/// Whether sampling cannot continue; otherwise the runtime has gone, or stopped, between two
/// requests.
bool is_fatal(const refusal& why) { return why.exit == exit_unreachable; }

}  // namespace

outcome<json> sampler::take() {
  const auto now = std::chrono::steady_clock::now();
  elapsed_s_ = before_ ? std::chrono::duration<double>(now - *before_).count() : 0;
  counted_.clear();
  const auto chosen = names();
  if (!chosen) return std::unexpected(chosen.error());
  const auto stats = stats_by_name();
  if (!stats) return std::unexpected(stats.error());
  auto all = json::array();
  for (const auto& name : *chosen) {
    const auto found = stats->find(name);
    // A missing runtime was removed since it was listed, unless its name was mistyped.
    if (found == stats->end()) {
      const bool is_asked_for = std::ranges::find(words_, name) != words_.end();
      if (!is_asked_for) continue;
      auto refused = client_.get(runtime_target(name, "stats"));
      if (!refused) return refused;
      continue;
    }
    auto figures = runtime_figures(name, found->second);
    if (!figures) return figures;
    all.push_back(std::move(*figures));
  }
  before_ = now;
  counted_before_ = counted_;
  return json{{"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(::time(nullptr)))},
              {"runtimes", std::move(all)}};
}

outcome<std::vector<std::string>> sampler::names() {
  const auto listed = client_.get("/v1/runtimes");
  if (!listed) return std::unexpected(listed.error());
  const auto known = known_runtimes(*listed);
  if (!words_.empty()) {
    auto [names, failures] = expand(words_, known);
    if (!failures.empty()) return std::unexpected(failures.front());
    return std::move(names);
  }
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const auto& each : known) names.push_back(each.name);
  return names;
}

outcome<std::map<std::string, json>> sampler::stats_by_name() {
  auto answer = client_.get("/v1/stats");
  std::map<std::string, json> all;
  // The answer was truncated: the next request shows whether the daemon has gone.
  if (!answer && answer.error().exit == exit_failed) return all;
  if (!answer) return std::unexpected(answer.error());
  if (!answer->is_array()) return all;
  for (auto& each : *answer) {
    auto name = text_at(each, "name");
    all[std::move(name)] = std::move(each);
  }
  return all;
}

outcome<json> sampler::runtime_figures(const std::string& name, const json& stats) {
  const auto state = text_at(stats, "state");
  auto backends = json::array();
  if (text_at(stats, "type") == "proxy" && state == "running") {
    auto reported = backends_of(name);
    if (!reported) return reported;
    backends = std::move(*reported);
  }
  return json{{"name", name},
              {"type", text_at(stats, "type")},
              {"state", state},
              {"connections", number_at(stats, "/connections/now")},
              {"in_per_s", number_at(stats, "/rates/in_1s")},
              {"out_per_s", number_at(stats, "/rates/out_1s")},
              {"bytes_per_s", rate_of(name, sum_at(stats, "/bytes/in", "/bytes/out"))},
              {"errors", number_at(stats, "/errors")},
              {"p99_ms", p99_at(stats, "/http/latency")},
              {"backends", std::move(backends)}};
}

outcome<json> sampler::backends_of(const std::string& name) {
  const auto reported = client_.get(runtime_target(name, "backends"));
  if (!reported && is_fatal(reported.error())) return std::unexpected(reported.error());
  auto backends = json::array();
  if (!reported || !reported->is_array()) return backends;
  for (const auto& each : *reported) {
    const auto total = number_at(each, "/total");
    const auto key =
        fmt::format("{}\n{}\n{}", name, text_at(each, "route"), text_at(each, "backend"));
    backends.push_back(
        {{"backend", text_at(each, "backend")},
         {"route", text_at(each, "route")},
         {"state", text_at(each, "state")},
         {"connections", number_at(each, "/now")},
         {"in_per_s",
          rate_of(key, total.is_null() ? std::nullopt : std::optional(total.get<double>()))},
         {"out_per_s", nullptr},
         {"bytes_per_s", nullptr},
         {"errors", number_at(each, "/failed")},
         {"p99_ms", p99_at(each, "/latency")}});
  }
  return backends;
}

// Null until the figure was seen twice, and after its counter was reset.
json sampler::rate_of(const std::string& key, std::optional<double> counted) {
  if (!counted) return nullptr;
  counted_[key] = *counted;
  const auto known = counted_before_.find(key);
  if (elapsed_s_ <= 0 || known == counted_before_.end() || *counted < known->second) return nullptr;
  return (*counted - known->second) / elapsed_s_;
}

}  // namespace strata::cli
