#include "cli/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/terminal/output.hpp"
#include "cli/verbs.hpp"

namespace strata::cli {

namespace {

/// Each verb's first word, or its second where `family` is its first.
std::set<std::string> verb_words(std::string_view family) {
  std::set<std::string> found;
  for (const auto& verb : verbs()) {
    auto name = verb.name;
    if (!family.empty()) {
      if (!name.starts_with(fmt::format("{} ", family))) continue;
      name.remove_prefix(family.size() + 1);
    }
    found.emplace(name.substr(0, name.find(' ')));
  }
  return found;
}

void add_flags(std::span<const options::option_row> rows, std::set<std::string>& to) {
  for (const auto& row : rows) to.insert(options::long_flag(row));
}

const runtime::type_row* type_among(std::span<const std::string> words) {
  for (const auto& type : runtime::types()) {
    if (std::ranges::find(words, type.name) != words.end()) return &type;
  }
  return nullptr;
}

std::set<std::string> type_names() {
  std::set<std::string> found;
  for (const auto& type : runtime::types()) found.emplace(type.name);
  return found;
}

std::set<std::string> candidates(std::span<const std::string> before, bool of_flags) {
  if (before.empty()) return of_flags ? std::set<std::string>{"--version"} : verb_words({});
  const bool has_family = is_family(verbs(), before.front());
  if (has_family && before.size() == 1) return verb_words(before.front());
  if (before.front() == "help") return before.size() == 1 ? verb_words({}) : type_names();
  const std::size_t named = has_family ? 2 : 1;
  const auto verb =
      find_verb(verbs(), has_family ? fmt::format("{} {}", before[0], before[1]) : before[0]);
  if (!verb) return {};
  const auto* type = (*verb)->find_type == nullptr ? nullptr : type_among(before.subspan(named));
  if (!of_flags) {
    if (names_type(**verb) && type == nullptr && before.size() == named) return type_names();
    return {};
  }
  std::set<std::string> found;
  add_flags((*verb)->flags, found);
  add_flags(common_flags_of(**verb), found);
  if (type != nullptr) add_flags(type->rows(), found);
  return found;
}

}  // namespace

std::vector<std::string> completions_of(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  const auto& begun = words.back();
  std::vector<std::string> fitting;
  for (const auto& each :
       candidates(std::span(words).first(words.size() - 1), begun.starts_with('-'))) {
    if (each.starts_with(begun)) fitting.push_back(each);
  }
  return fitting;
}

outcome<int> run_complete(const invocation& call) {
  for (const auto& each : completions_of(call.words)) print(each + '\n');
  return exit_done;
}

}  // namespace strata::cli
