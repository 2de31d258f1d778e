#include "cli/help.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/manual.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/screen.hpp"
#include "cli/terminal/secret.hpp"
#include "cli/verbs.hpp"
#include "options/effects.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using options::option_kind;
using options::option_row;

namespace {

constexpr std::size_t text_column = 30;

constexpr group_title groups[] = {
    {verb_group::runtimes, "runtimes"}, {verb_group::look, "look"},
    {verb_group::talk, "talk"},         {verb_group::ethernet, "Ethernet"},
    {verb_group::netlink, "netlink"},   {verb_group::system, "system"}};

constexpr code_row codes[] = {
    {exit_done, "done"},
    {exit_failed, "the command failed"},
    {exit_misused, "the command line is wrong; nothing was done"},
    {exit_not_found,
     "no runtime has this name or matches; for l2, xdp, nl and pipe: no such interface or family"},
    {exit_unreachable, "the daemon cannot be reached or does not answer in time"}};

/// "  left     text", with the text in its column and wrapped there.
std::string entry(const std::string& left, std::string_view text) {
  std::string page = "  " + left;
  static const auto page_width = screen_width();  // read from the terminal once
  std::size_t width = page.size();
  const auto break_line = [&] {
    page += '\n' + std::string(text_column, ' ');
    width = text_column;
  };
  if (width + 2 > text_column) {
    break_line();
  } else {
    page.append(text_column - width, ' ');
    width = text_column;
  }
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (width > text_column && width + 1 + text::width_of(word) > page_width) break_line();
    if (width > text_column) {
      page += ' ';
      ++width;
    }
    page += word;
    width += text::width_of(word);
  }
  return page + '\n';
}

bool has_secret(std::span<const option_row> rows) {
  return std::ranges::any_of(rows,
                             [](const option_row& row) { return row.kind == option_kind::secret; });
}

std::string flag_entry(const option_row& row, bool with_restart) {
  return entry(flag_text(row), flag_meaning(row, with_restart));
}

std::string flag_entries(std::string_view title, std::span<const option_row> rows,
                         bool with_restart) {
  if (rows.empty()) return {};
  std::string text = fmt::format("\n{}:\n", title);
  for (const auto& row : rows) text += flag_entry(row, with_restart);
  if (has_secret(rows)) text += '\n' + entry("a secret", secret_forms);
  return text;
}

std::string type_entries(const verb_row& verb) {
  std::string text = "\ntypes:\n";
  for (const auto& type : runtime::types()) text += entry(std::string(type.name), type.summary);
  return text + fmt::format("\n'strata {} {} --help' shows the flags of {}.\n", verb.name,
                            verb.synopsis.substr(0, verb.synopsis.find(' ')),
                            names_type(verb) ? "a type" : "the runtime's type");
}

std::string verb_entry(const verb_row& verb) {
  auto text = std::string(verb.summary);
  if (!verb.aliases.empty()) text += fmt::format(" ({})", aliases_of(verb));
  return entry(fmt::format("{} {}", verb.name, verb.synopsis), text);
}

}  // namespace

std::string flag_text(const option_row& row) {
  std::string left = row.short_flag == 0 ? "    " : fmt::format("-{}, ", row.short_flag);
  left += options::long_flag(row);
  if (row.kind == option_kind::flag) return left;
  const auto* form = row.implicit_text.empty() ? " {}" : " [{}]";
  return left + fmt::format(fmt::runtime(form), row.value_name);
}

std::string flag_meaning(const option_row& row, bool with_restart) {
  std::vector<std::string> notes;
  if (!row.only_with.empty()) notes.push_back("with " + options::condition_text(row.only_with));
  if (row.kind == options::option_kind::choice)
    notes.push_back(fmt::format("one of {}", row.choices));
  if (row.kind == option_kind::secret) notes.emplace_back("a secret");
  if (!row.default_text.empty()) notes.push_back(fmt::format("default {}", row.default_text));
  if (with_restart && row.needs_restart) notes.emplace_back("needs a restart");
  std::string text(row.help);
  if (!notes.empty()) text += fmt::format(" ({})", fmt::join(notes, "; "));
  return text;
}

std::span<const group_title> verb_groups() { return groups; }

std::span<const code_row> exit_codes() { return codes; }

std::string general_help() {
  std::string text =
      "strata runs Linux network endpoints under one daemon.\n\nusage: strata VERB [flags]\n";
  for (const auto& [group, title] : groups) {
    text += fmt::format("\n{}:\n", title);
    for (const auto& verb : verbs()) {
      if (verb.group != group) continue;
      text += verb_entry(verb);
    }
  }
  text += flag_entries("flags of all verbs", common_flags(), false);
  text += "\nexit codes:\n";
  for (const auto& [code, meaning] : codes) text += entry(fmt::format("{:d}", code), meaning);
  return text + "\n'strata VERB --help' shows the flags of a verb.\n";
}

std::string family_help(std::string_view family) {
  std::string text = fmt::format("usage: strata {} VERB [flags]\n\n", family);
  for (const auto& verb : verbs()) {
    if (!verb.name.starts_with(fmt::format("{} ", family))) continue;
    text += verb_entry(verb);
  }
  return text + fmt::format("\n'strata {} VERB --help' shows the flags of a verb.\n", family);
}

std::string verb_help(const verb_row& verb, const runtime::type_row* type) {
  std::string text = fmt::format("usage: {}\n\n{}\n", usage_line(verb, type), verb.summary);
  if (!verb.aliases.empty()) text += aliases_of(verb) + "\n";
  text += flag_entries("flags", verb.flags, false);
  if (type != nullptr) {
    text += flag_entries(fmt::format("{} ({})", type->name, type->summary),
                         runtime::flags_of(*type), !names_type(verb));
  } else if (verb.find_type != nullptr) {
    text += type_entries(verb);
  }
  return text + flag_entries("flags of all verbs", common_flags_of(verb), false);
}

outcome<int> run_help(const invocation& call) {
  if (call.is_set("man")) {
    print(manual_page());
    return exit_done;
  }
  if (call.words.empty()) {
    print(general_help());
    return exit_done;
  }
  auto words = call.words;
  const auto first = find_verb(verbs(), words.front());
  std::string type;
  if (words.size() == 2 && first && names_type(**first)) {
    type = words.back();
    words.pop_back();
  }
  const auto name = fmt::format("{}", fmt::join(words, " "));
  if (is_family(verbs(), name)) {
    print(family_help(name));
    return exit_done;
  }
  const auto verb = find_verb(verbs(), name);
  if (!verb) return std::unexpected(verb.error());
  if (type.empty()) {
    print(verb_help(**verb));
    return exit_done;
  }
  const auto found = (*verb)->find_type(type, call.daemon);
  if (!found) return std::unexpected(found.error());
  print(verb_help(**verb, *found));
  return exit_done;
}

}  // namespace strata::cli
