#include "runtime/cache/engine/users/command_permissions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

// With more rules, one that has no effect stays.
constexpr std::size_t most_replayed = 200;

std::unexpected<error> unknown_name(std::string_view rule) {
  return failure(errc::not_found, "apply " + text::quoted(rule),
                 "Unknown command or category name in ACL");
}

std::unexpected<error> invalid_rule(std::string_view rule, std::string_view reason) {
  return failure(errc::invalid_argument, "apply " + text::quoted(rule), std::string(reason));
}

}  // namespace

result<void> command_permissions::apply(std::string_view rule) {
  auto change = parse(rule);
  if (!change) return std::unexpected(change.error());
  if (change->name == "@all") {
    begins_with_all_ = change->is_addition;
    rules_.clear();
    state_ = first_state();
    return {};
  }
  auto next = state_;
  make(next, *change);
  if (next == state_) return {};
  state_ = std::move(next);
  std::erase_if(rules_, [&](const auto& earlier) { return is_replaced(earlier, *change); });
  rules_.push_back(std::move(*change));
  if (rules_.size() <= most_replayed) remove_idle();
  return {};
}

bool command_permissions::allows(const command& command,
                                 std::span<const std::string_view> words) const {
  if (state_.allowed[command.index] || command.has(flag_no_auth)) return true;
  return words.size() > 1 &&
         std::ranges::any_of(state_.arguments, [&](const first_argument& argument) {
           return argument.command == command.index && text::same_text(argument.text, words[1]);
         });
}

std::string command_permissions::text() const {
  std::string text = begins_with_all_ ? "+@all" : "-@all";
  for (const auto& each : rules_) text += (each.is_addition ? " +" : " -") + each.name;
  return text;
}

// --- rules

result<command_permissions::change> command_permissions::parse(std::string_view rule) {
  const auto name = rule.substr(1);
  change parsed{.is_addition = rule.starts_with('+'), .name = text::in_small_letters(name)};
  if (parsed.name == "@all") return parsed;
  if (name.starts_with('@')) {
    const auto* const category = find_category(name.substr(1));
    if (category == nullptr) return unknown_name(rule);
    parsed.commands = *category;
    return parsed;
  }
  return parse_command(std::move(parsed), name);
}

result<command_permissions::change> command_permissions::parse_command(change change,
                                                                       std::string_view name) {
  const auto bar = name.find('|');
  const auto* const command = find_command(name.substr(0, bar));
  if (command == nullptr) return unknown_name(name);
  if (bar == std::string_view::npos) {
    change.commands.set(command->index);
    for (const auto& row : command->row->subcommands) {
      change.commands.set(find_subcommand(*command, row.name)->index);
    }
    return change;
  }
  const auto rest = name.substr(bar + 1);
  if (rest.empty() && change.is_addition) return invalid_rule(name, "Syntax error");
  if (command->row->subcommands.empty()) {
    if (!change.is_addition || rest.contains('|')) return unknown_name(name);
    // The rules of a user are one line, of which this may be the end.
    if (rest.find_first_of(std::string_view(" \t\r\n\0", 5)) != std::string_view::npos) {
      return invalid_rule(name, "Syntax error");
    }
    change.name = fmt::format("{}|{}", command->row->name, rest);
    change.arguments.push_back({command->index, std::string(rest)});
    return change;
  }
  const auto* const subcommand = find_subcommand(*command, rest.substr(0, rest.find('|')));
  if (subcommand == nullptr) return unknown_name(name);
  if (rest.contains('|')) {
    return invalid_rule(name, "Allowing first-arg of a subcommand is not supported");
  }
  change.commands.set(subcommand->index);
  return change;
}

void command_permissions::make(state& state, const change& change) {
  std::erase_if(state.arguments,
                [&](const first_argument& argument) { return change.commands[argument.command]; });
  if (change.is_addition) {
    state.allowed |= change.commands;
  } else {
    state.allowed &= ~change.commands;
  }
  for (const auto& argument : change.arguments) {
    const bool is_allowed = state.allowed[argument.command] ||
                            std::ranges::find(state.arguments, argument) != state.arguments.end();
    if (!is_allowed) state.arguments.push_back(argument);
  }
}

bool command_permissions::is_replaced(const change& earlier, const change& later) {
  return (earlier.commands & ~later.commands).none() &&
         std::ranges::all_of(earlier.arguments, [&](const first_argument& argument) {
           return later.commands[argument.command];
         });
}

void command_permissions::remove_idle() {
  auto present = first_state();
  std::vector<change> effective;
  for (auto& each : rules_) {
    auto next = present;
    make(next, each);
    if (next == present) continue;
    present = std::move(next);
    effective.push_back(std::move(each));
  }
  rules_ = std::move(effective);
}

command_permissions::state command_permissions::first_state() const {
  state first;
  if (begins_with_all_) first.allowed = every_command();
  return first;
}

}  // namespace strata::runtime::cache
