#include "cli/daemon_client/names.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"

namespace strata::cli {

namespace {

outcome<std::vector<std::string>> known_names(control_client& client) {
  auto runtimes = client.get("/v1/runtimes");
  if (!runtimes) return std::unexpected(runtimes.error());
  std::vector<std::string> names;
  for (const auto& runtime : *runtimes) {
    if (auto name = text_at(runtime, "name"); !name.empty()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

bool is_glob(std::string_view word) { return word.find_first_of("*?[") != std::string_view::npos; }

expansion expand(std::span<const std::string> words, std::span<const std::string> known) {
  expansion result;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(result.names, name) == result.names.end()) result.names.push_back(name);
  };
  for (const auto& word : words) {
    if (word.empty()) {
      result.failures.push_back({exit_misused, "a runtime's name cannot be empty"});
    } else if (!is_glob(word)) {
      add(word);
    } else {
      bool matched = false;
      for (const auto& name : known) {
        if (::fnmatch(word.c_str(), name.c_str(), 0) != 0) continue;
        matched = true;
        add(name);
      }
      if (matched) continue;
      result.failures.push_back(
          {exit_not_found,
           fmt::format("no runtime matches '{}'; 'strata ls' shows all there are", word)});
    }
  }
  return result;
}

outcome<gathered> for_each_name(control_client& client, std::span<const std::string> words,
                                const act_on_name& act) {
  std::vector<std::string> known;
  if (std::ranges::any_of(words, is_glob)) {
    auto names = known_names(client);
    if (!names) return std::unexpected(names.error());
    known = std::move(*names);
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
