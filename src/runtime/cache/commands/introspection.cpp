// COMMAND: describes the commands from their rows.
#include <algorithm>
#include <array>
#include <optional>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/engine/called_command.hpp"
#include "runtime/cache/engine/command_info.hpp"
#include "text/pattern.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

bool is_top(const command& each) { return each.parent == nullptr; }

unsigned version_of(const call& c) { return c.home().settings().version.newest; }

// The commands that the cache's version of Redis has, with their subcommands.
std::vector<const command*> known_commands(const call& c) {
  std::vector<const command*> known;
  bool has_container = false;
  for (const auto& each : all_commands()) {
    const bool is_known = c.home().settings().knows(each.since);
    if (is_top(each)) has_container = is_known;
    if (is_known && has_container) known.push_back(&each);
  }
  return known;
}

std::size_t count_commands(const call& c) {
  return static_cast<std::size_t>(
      std::ranges::count_if(known_commands(c), [](const command* each) { return is_top(*each); }));
}

void command_count(call& c) { c.reply.integer(static_cast<std::int64_t>(count_commands(c))); }

// Finds "config|get" or "get".
const command* find_full(const call& c, std::string_view name) {
  const auto line = name.find('|');
  const auto* found = find_command(name.substr(0, line));
  if (found != nullptr && line != std::string_view::npos) {
    found = find_subcommand(*found, name.substr(line + 1));
  }
  return found != nullptr && c.home().settings().knows(found->since) ? found : nullptr;
}

void command_all(call& c) {
  c.reply.array(count_commands(c));
  for (const auto* each : known_commands(c)) {
    if (is_top(*each)) reply_command_info(c.reply, *each, version_of(c));
  }
}

void command_info(call& c) {
  if (c.size() == 2) {
    command_all(c);
    return;
  }
  c.reply.array(c.size() - 2);
  for (const auto& name : c.words.subspan(2)) {
    if (const auto* const found = find_full(c, name)) {
      reply_command_info(c.reply, *found, version_of(c));
    } else {
      c.reply.null_array();
    }
  }
}

void command_docs(call& c) {
  std::vector<const command*> found;
  if (c.size() == 2) {
    for (const auto* each : known_commands(c)) {
      if (is_top(*each)) found.push_back(each);
    }
  }
  for (const auto& name : c.words.subspan(2)) {
    if (const auto* const each = find_full(c, name)) found.push_back(each);
  }
  c.reply.map(found.size());
  for (const auto* each : found) {
    c.reply.bulk(each->full_name());
    reply_command_docs(c.reply, *each, version_of(c));
  }
}

void command_list(call& c) {
  const bool filtered = c.size() == 5 && c.is(2, "FILTERBY");
  if (c.size() != 2 && !filtered) {
    c.fail_syntax();
    return;
  }
  const bool by_pattern = filtered && c.is(3, "PATTERN");
  const bool by_category = filtered && c.is(3, "ACLCAT");
  if (filtered && !by_pattern && !by_category && !c.is(3, "MODULE")) {
    c.fail_syntax();
    return;
  }
  std::vector<std::string> names;
  for (const auto* each : known_commands(c)) {
    const auto name = each->full_name();
    if (by_pattern && !text::matches_pattern(c[4], name, true)) continue;
    if (by_category && !has_category(*each, c[4])) continue;
    if (filtered && !by_pattern && !by_category) continue;
    names.push_back(name);
  }
  c.reply.array(names.size());
  for (const auto& each : names) c.reply.bulk(each);
}

// The command in the words from the third on, with the positions of its keys: none for a command
// that needs none. Nullopt after an error.
struct examined_command {
  const command* what;
  std::vector<std::size_t> positions;
};

std::optional<examined_command> examine(call& c) {
  const auto words = c.words.subspan(2);
  const auto* const what = find_called_command(words);
  if (what == nullptr || !c.home().settings().knows(what->since)) {
    c.fail("ERR Invalid command specified");
    return {};
  }
  if (!may_have_keys(*what)) {
    c.fail("ERR The command has no key arguments");
    return {};
  }
  if (!what->takes(words.size())) {
    c.fail("ERR Invalid number of arguments specified for command");
    return {};
  }
  examined_command examined{what, {}};
  const bool has_keys = find_keys(*what, words, examined.positions) &&
                        !examined.positions.empty() && !lacks_key(*what, words);
  if (has_keys) return examined;
  if (!what->has(flag_no_mandatory_keys)) {
    c.fail("ERR Invalid arguments specified for command");
    return {};
  }
  examined.positions.clear();
  return examined;
}

void command_getkeys(call& c) {
  const auto examined = examine(c);
  if (!examined) return;
  c.reply.array(examined->positions.size());
  for (const auto each : examined->positions) c.reply.bulk(c[each + 2]);
}

void command_getkeysandflags(call& c) {
  const auto examined = examine(c);
  if (!examined) return;
  if (examined->positions.empty()) {
    c.reply.array(0);
  } else {
    reply_keys_and_flags(c.reply, *examined->what, c.words.subspan(2));
  }
}

void command_help(call& c) {
  constexpr std::array<std::string_view, 6> lines = {
      "COMMAND <subcommand>. Subcommands are:",
      "COUNT -- returns the number of commands.",
      "DOCS|INFO [<name> ...] -- returns descriptions of commands.",
      "GETKEYS <command> -- returns the arguments that are keys.",
      "GETKEYSANDFLAGS <command> -- returns the arguments that are keys, and their use.",
      "LIST [FILTERBY PATTERN|ACLCAT <text>] -- returns the names of commands."};
  c.reply_lines(lines);
}

// clang-format off
const command_row command_rows[] = {
    {"count", 2, "loading stale", {0, 0, 0},
     "", "connection", "2.8.13",
     "returns the number of commands", command_count},
    {"docs", -2, "loading stale", {0, 0, 0},
     "", "connection", "7.0.0",
     "returns descriptions of commands", command_docs},
    {"getkeys", -4, "loading stale", {0, 0, 0},
     "", "connection", "2.8.13",
     "returns the arguments of a command that are keys", command_getkeys},
    {"getkeysandflags", -4, "loading stale", {0, 0, 0},
     "", "connection", "7.0.0",
     "returns the arguments of a command that are keys, and the use of each key",
     command_getkeysandflags},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "connection", "5.0.0",
     "lists the subcommands of COMMAND", command_help},
    {"info", -2, "loading stale", {0, 0, 0},
     "", "connection", "2.8.13",
     "returns the arity, flags and keys of commands", command_info},
    {"list", -2, "loading stale", {0, 0, 0},
     "", "connection", "7.0.0",
     "returns the names of the commands", command_list},
};

const command_row command_group_rows[] = {
    {"command", -1, "loading stale", {0, 0, 0},
     "", "connection", "2.8.13",
     "describes the commands", command_all, command_rows},
};
// clang-format on

}  // namespace

command_group command_commands() { return {"server", command_group_rows}; }

}  // namespace strata::runtime::cache
