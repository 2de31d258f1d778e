#include "cli/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "cli/l2/rows.hpp"
#include "cli/nl/rows.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/output.hpp"
#include "cli/verbs.hpp"

namespace strata::cli {

namespace {

using options::option_kind;
using options::option_row;
using word_set = std::set<std::string>;

/// Completion must not wait for a silent daemon.
constexpr auto longest_wait = std::chrono::seconds(2);

/// The part of the line before the word to complete.
struct unfinished_line {
  const verb_row* verb = nullptr;
  option_rows flags;                   ///< the flags that may follow
  std::vector<std::string> words;      ///< words behind the verb, without flags and their values
  const option_row* asking = nullptr;  ///< the last flag, if its value comes next
};

/// The first word of each verb, or the second if `family` is its first.
word_set verb_words(std::string_view family) {
  word_set found;
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

word_set type_names() {
  word_set found;
  for (const auto& type : runtime::types()) found.emplace(type.name);
  return found;
}

word_set parts_of(std::string_view text, char separator) {
  word_set parts;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(separator));
    if (!part.empty()) parts.emplace(part);
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return parts;
}

const option_row* find_flag(const option_rows& rows, std::string_view token) {
  const auto found = std::ranges::find_if(rows, [token](const option_row& row) {
    return token == options::long_flag(row) ||
           (row.short_flag != 0 && token == std::string{'-', row.short_flag});
  });
  return found == rows.end() ? nullptr : &*found;
}

/// Bash splits `--flag=value` into three words.
bool is_equals_sign(std::string_view token) { return token == "="; }

void add_type(unfinished_line& line, const daemon_address& daemon) {
  if (line.verb->find_type == nullptr || line.words.size() != 1) return;
  const auto type = line.verb->find_type(line.words.front(), daemon);
  if (!type) return;
  const auto rows = runtime::flags_of(**type);
  line.flags.insert(line.flags.end(), rows.begin(), rows.end());
}

unfinished_line read_line(const verb_row& verb, std::span<const std::string> tokens,
                          const daemon_address& daemon) {
  unfinished_line line{.verb = &verb, .flags = verb.flags, .words = {}};
  for (const auto& row : common_flags_of(verb)) line.flags.push_back(row);
  std::string asking;
  for (const auto& token : tokens) {
    if (is_equals_sign(token) && !asking.empty()) continue;
    if (!asking.empty()) {
      asking.clear();
    } else if (!token.starts_with('-')) {
      line.words.push_back(token);
      add_type(line, daemon);
    } else if (const auto* const row = find_flag(line.flags, token)) {
      if (row->kind != option_kind::flag) asking = token;
    }
  }
  if (!asking.empty()) line.asking = find_flag(line.flags, asking);
  return line;
}

void add(word_set& set, const std::vector<std::string>& names) {
  set.insert(names.begin(), names.end());
}

/// The synopsis's entry for the next word, without brackets: `NAME|GLOB|@GROUP`.
std::string next_place(const unfinished_line& line) {
  std::string synopsis(line.verb->synopsis);
  std::erase_if(synopsis, [](char letter) { return letter == '[' || letter == ']'; });
  std::vector<std::string> places;
  for (std::string_view rest = synopsis; !rest.empty();) {
    const auto place = rest.substr(0, rest.find(' '));
    places.emplace_back(place);
    rest.remove_prefix(std::min(rest.size(), place.size() + 1));
  }
  const auto at = line.words.size();
  const bool repeats = !places.empty() && places.back().ends_with("...");
  if (at >= places.size() && !repeats) return {};
  auto place = places[std::min(at, places.size() - 1)];
  if (place.ends_with("...")) place.resize(place.size() - 3);
  return place;
}

word_set next_words(const unfinished_line& line, const daemon_address& daemon) {
  const auto place = next_place(line);
  const auto alternatives = parts_of(place, '|');
  const bool is_of_runtimes = line.verb->group <= verb_group::talk && !names_type(*line.verb);
  word_set found;
  for (const auto& each : alternatives) {
    const bool is_literal = each.front() >= 'a' && each.front() <= 'z';
    if (is_literal) found.insert(each);
    if (each == "TYPE") found.merge(type_names());
    if (each == "IFACE") add(found, interface_names());
    if (each == "FAMILY") add(found, family_names());
    if (each == "BACKEND") add(found, backend_names(line.words.front(), daemon));
    if (each == "NAME" && is_of_runtimes) {
      add(found, runtime_names(daemon));
      if (alternatives.contains("@GROUP")) add(found, group_names(daemon));
    }
  }
  return found;
}

word_set values_of(const option_row& row) { return parts_of(row.choices, '|'); }

word_set flags_of(const unfinished_line& line, std::string_view begun) {
  word_set found;
  const auto equals = begun.find('=');
  if (equals != std::string_view::npos) {
    const auto flag = begun.substr(0, equals);
    const auto* const row = find_flag(line.flags, flag);
    for (const auto& each : row == nullptr ? word_set() : values_of(*row)) {
      found.insert(fmt::format("{}={}", flag, each));
    }
    return found;
  }
  for (const auto& row : line.flags) found.insert(options::long_flag(row));
  return found;
}

word_set candidates(std::span<const std::string> before, std::string_view begun,
                    const daemon_address& daemon) {
  if (before.empty()) return begun.starts_with('-') ? word_set{"--version"} : verb_words({});
  const bool has_family = is_family(verbs(), before.front());
  if (has_family && before.size() == 1) return verb_words(before.front());
  if (before.front() == "help") return before.size() == 1 ? verb_words({}) : type_names();
  const auto verb =
      find_verb(verbs(), has_family ? fmt::format("{} {}", before[0], before[1]) : before[0]);
  if (!verb) return {};
  const auto line = read_line(**verb, before.subspan(has_family ? 2 : 1), daemon);
  if (line.asking != nullptr) return values_of(*line.asking);
  return begun.starts_with('-') ? flags_of(line, begun) : next_words(line, daemon);
}

}  // namespace

std::vector<std::string> completions_of(const std::vector<std::string>& words,
                                        daemon_address daemon) {
  if (words.empty()) return {};
  if (daemon.timeout == std::chrono::milliseconds::zero() || daemon.timeout > longest_wait) {
    daemon.timeout = longest_wait;
  }
  const std::string begun = is_equals_sign(words.back()) ? "" : words.back();
  std::vector<std::string> fitting;
  const auto before = std::span(words).first(words.size() - 1);
  for (const auto& each : candidates(before, begun, daemon)) {
    if (each.starts_with(begun)) fitting.push_back(each);
  }
  return fitting;
}

outcome<int> run_complete(const invocation& call) {
  for (const auto& each : completions_of(call.words, call.daemon)) print(each + '\n');
  return exit_done;
}

}  // namespace strata::cli
