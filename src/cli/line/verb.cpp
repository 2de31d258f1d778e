#include "cli/line/verb.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/line/foreign_verbs.hpp"
#include "text/nearest.hpp"

namespace strata::cli {

outcome<const verb_row*> find_verb(std::span<const verb_row> verbs, std::string_view name) {
  std::vector<std::string> known;
  for (const auto& verb : verbs) {
    if (verb.name == name || std::ranges::find(verb.aliases, name) != verb.aliases.end())
      return &verb;
    known.emplace_back(verb.name);
    known.insert(known.end(), verb.aliases.begin(), verb.aliases.end());
  }
  if (is_family(verbs, name)) {
    return refuse(exit_misused,
                  fmt::format("'{0}' needs one more word; 'strata {0} --help' shows which", name));
  }
  const auto counterpart = counterpart_of_verb(name);
  const auto hint =
      counterpart ? fmt::format(": here it is {}", *counterpart) : text::did_you_mean(name, known);
  return refuse(exit_misused,
                fmt::format("there is no verb '{}'{}; 'strata --help' shows all", name, hint));
}

bool has_own_flag(const verb_row& verb, std::string_view key) {
  return std::ranges::find(verb.flags, key, &options::option_row::key) != verb.flags.end();
}

bool is_family(std::span<const verb_row> verbs, std::string_view words) {
  return std::ranges::any_of(verbs, [&](const verb_row& verb) {
    return verb.name.size() > words.size() && verb.name.starts_with(words) &&
           verb.name[words.size()] == ' ';
  });
}

bool names_type(const verb_row& verb) { return verb.synopsis.starts_with("TYPE"); }

std::string aliases_of(const verb_row& verb) {
  return verb.aliases.empty() ? "" : fmt::format("also: {}", fmt::join(verb.aliases, ", "));
}

std::string usage_line(const verb_row& verb, const runtime::type_row* type) {
  std::string synopsis(verb.synopsis);
  if (type != nullptr && names_type(verb)) synopsis.replace(0, 4, type->name);
  return fmt::format("strata {}{}{} [flags]", verb.name, synopsis.empty() ? "" : " ", synopsis);
}

}  // namespace strata::cli
