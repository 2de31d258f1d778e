#include "cli/daemon_client/names.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <ranges>

#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"

namespace strata::cli {

namespace {

bool is_group(std::string_view word) { return word.starts_with('@'); }

bool fits(const std::string& word, const known_runtime& runtime) {
  if (is_label(word)) return has_labels(runtime.labels, word);
  if (!is_group(word)) return ::fnmatch(word.c_str(), runtime.name.c_str(), 0) == 0;
  const auto group = word.substr(1);
  return !runtime.group.empty() &&
         (group == runtime.group || ::fnmatch(group.c_str(), runtime.group.c_str(), 0) == 0);
}

std::string why_none(const std::string& word) {
  if (is_group(word)) {
    return fmt::format("no runtime is in the group '{}'; 'strata ls' shows all groups",
                       word.substr(1));
  }
  if (is_label(word)) {
    return fmt::format(
        "no runtime has the label '{}'; 'strata ls --columns name,labels' shows all "
        "labels",
        word);
  }
  return fmt::format("no runtime matches '{}'; 'strata ls' shows all runtimes", word);
}

}  // namespace

bool is_glob(std::string_view word) { return word.find_first_of("*?[") != std::string_view::npos; }

bool is_label(std::string_view word) { return word.contains('='); }

bool has_labels(const labels& held, std::string_view word) {
  return std::ranges::all_of(word | std::views::split(','), [&held](const auto& part) {
    const std::string_view label(part);
    const auto equals = std::min(label.find('='), label.size());
    const auto value = held.find(std::string(label.substr(0, equals)));
    return equals < label.size() && value != held.end() &&
           value->second == label.substr(equals + 1);
  });
}

labels labels_of(const nlohmann::json& shown) {
  labels held;
  const auto given = shown.value("labels", nlohmann::json::object());
  for (const auto& [key, value] : given.items()) {
    if (value.is_string()) held.emplace(key, value.get<std::string>());
  }
  return held;
}

bool names_several(std::string_view word) {
  return is_glob(word) || is_group(word) || is_label(word);
}

options::option_row label_flag() {
  return {.key = "label",
          .short_flag = 'l',
          .kind = options::option_kind::list,
          .value_name = "KEY=VALUE",
          .help =
              "also the runtimes with this label; with all of several labels: "
              "KEY=VALUE,KEY=VALUE; repeatable"};
}

std::vector<known_runtime> known_runtimes(const nlohmann::json& listed) {
  std::vector<known_runtime> known;
  for (const auto& each : listed) {
    if (auto name = text_at(each, "name"); !name.empty()) {
      known.push_back(
          {.name = std::move(name), .group = text_at(each, "group"), .labels = labels_of(each)});
    }
  }
  return known;
}

expansion expand(std::span<const std::string> words, std::span<const known_runtime> known) {
  expansion result;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(result.names, name) == result.names.end()) result.names.push_back(name);
  };
  for (const auto& word : words) {
    if (word.empty() || word == "@") {
      result.failures.push_back({exit_misused, word.empty() ? "a runtime's name cannot be empty"
                                                            : "'@' lacks the name of a group; "
                                                              "write @GROUP"});
    } else if (!names_several(word)) {
      add(word);
    } else {
      bool matched = false;
      for (const auto& each : known) {
        if (!fits(word, each)) continue;
        matched = true;
        add(each.name);
      }
      if (!matched) result.failures.push_back({exit_not_found, why_none(word)});
    }
  }
  return result;
}

outcome<gathered> for_each_name(control_client& client, std::span<const std::string> words,
                                const act_on_name& act) {
  std::vector<known_runtime> known;
  if (std::ranges::any_of(words, names_several)) {
    const auto listed = client.get("/v1/runtimes");
    if (!listed) return std::unexpected(listed.error());
    known = known_runtimes(*listed);
  }
  gathered all;
  const auto report = [&](const refusal& failed) {
    complain(failed.message);
    if (all.exit == exit_done) all.exit = failed.exit;
  };
  const auto expanded = expand(words, known);
  for (const auto& failed : expanded.failures) report(failed);
  for (const auto& name : expanded.names) {
    auto answer = act(name);
    if (answer && answer->is_null()) continue;
    if (answer) {
      all.answers.push_back(std::move(*answer));
    } else if (answer.error().exit == exit_unreachable) {
      return std::unexpected(answer.error());
    } else {
      report(answer.error());
    }
  }
  return all;
}

}  // namespace strata::cli
