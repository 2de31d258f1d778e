#include "runtime/cache/engine/users/selector.hpp"

#include <algorithm>

#include "text/pattern.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

std::unexpected<error> refuse(std::string_view rule, std::string_view reason) {
  return failure(errc::invalid_argument, "apply " + text::quoted(rule), std::string(reason));
}

std::unexpected<error> refuse_syntax(std::string_view rule) { return refuse(rule, "Syntax error"); }

// The rules of a user are one line, separated by blanks.
bool breaks_line(std::string_view pattern) {
  return pattern.find_first_of(std::string_view(" \r\n\0", 4)) != std::string_view::npos;
}

void append(std::string& list, std::string_view word) {
  if (!list.empty()) list += ' ';
  list += word;
}

}  // namespace

result<void> selector::apply(std::string_view rule) {
  using text::same_text;
  if (rule == "~*" || same_text(rule, "allkeys")) {
    every_key_ = true;
    keys_.clear();
  } else if (same_text(rule, "resetkeys")) {
    every_key_ = false;
    keys_.clear();
  } else if (rule == "&*" || same_text(rule, "allchannels")) {
    every_channel_ = true;
    channels_.clear();
  } else if (same_text(rule, "resetchannels")) {
    every_channel_ = false;
    channels_.clear();
  } else if (same_text(rule, "allcommands")) {
    return commands_.apply("+@all");
  } else if (same_text(rule, "nocommands")) {
    return commands_.apply("-@all");
  } else if (rule.starts_with('+') || rule.starts_with('-')) {
    return commands_.apply(rule);
  } else if (rule.starts_with('~') || rule.starts_with('%')) {
    return add_keys(rule);
  } else if (rule.starts_with('&')) {
    return add_channels(rule);
  } else {
    return refuse_syntax(rule);
  }
  return {};
}

// A rule is "~PATTERN", or "%R~PATTERN" with R, W or both.
result<void> selector::add_keys(std::string_view rule) {
  key_pattern added{.text = {}, .reads = true, .writes = true};
  auto rest = rule;
  if (rest.starts_with('%')) {
    const auto tilde = rule.find('~');
    if (tilde == std::string_view::npos) return refuse_syntax(rule);
    const auto letters = text::in_capitals(rule.substr(1, tilde - 1));
    added.reads = letters.contains('R');
    added.writes = letters.contains('W');
    const std::size_t known = (added.reads ? 1 : 0) + (added.writes ? 1 : 0);
    if (letters.empty() || letters.size() != known) return refuse_syntax(rule);
    rest.remove_prefix(tilde);
  }
  if (every_key_) {
    return refuse(rule,
                  "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and "
                  "does not have any effect. Try 'resetkeys' to start with an empty list of "
                  "patterns");
  }
  rest.remove_prefix(1);
  if (breaks_line(rest)) return refuse_syntax(rule);
  added.text = rest;
  const auto found = std::ranges::find(keys_, added.text, &key_pattern::text);
  if (found == keys_.end()) {
    keys_.push_back(std::move(added));
  } else {
    found->reads = found->reads || added.reads;
    found->writes = found->writes || added.writes;
  }
  return {};
}

result<void> selector::add_channels(std::string_view rule) {
  if (every_channel_) {
    return refuse(rule,
                  "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid "
                  "and does not have any effect. Try 'resetchannels' to start with an empty list "
                  "of channels");
  }
  const auto pattern = rule.substr(1);
  if (breaks_line(pattern)) return refuse_syntax(rule);
  if (std::ranges::find(channels_, pattern) == channels_.end()) channels_.emplace_back(pattern);
  return {};
}

// --- checks

std::optional<access_denial> selector::check(const command_request& request) const {
  if (!commands_.allows(request.command, request.words)) return access_denial{};
  if (!every_key_) {
    for (const auto& access : request.keys) {
      if (!permits_key(request.words[access.position], access)) {
        return access_denial{.subject = denied_subject::key, .position = access.position};
      }
    }
  }
  if (!every_channel_) {
    for (const auto position : request.channels) {
      if (!permits_channel(request.words[position], request.names_patterns)) {
        return access_denial{.subject = denied_subject::channel, .position = position};
      }
    }
  }
  return {};
}

bool selector::permits_key(std::string_view key, const key_access& access) const {
  return std::ranges::any_of(keys_, [&](const key_pattern& pattern) {
    return (pattern.reads || !access.reads) && (pattern.writes || !access.writes) &&
           text::matches_pattern(pattern.text, key);
  });
}

// A client may subscribe to a pattern only if exactly that pattern is permitted.
bool selector::permits_channel(std::string_view channel, bool is_pattern) const {
  return every_channel_ || std::ranges::any_of(channels_, [&](const std::string& pattern) {
           return is_pattern ? pattern == channel : text::matches_pattern(pattern, channel);
         });
}

bool selector::permits_reading_all(const command& command,
                                   std::span<const std::string_view> words) const {
  const bool has_pattern = std::ranges::any_of(
      keys_, [](const key_pattern& pattern) { return pattern.reads && pattern.text == "*"; });
  return (every_key_ || has_pattern) && commands_.allows(command, words);
}

// --- as rules

std::string selector::key_text() const {
  if (every_key_) return "~*";
  std::string list;
  for (const auto& pattern : keys_) {
    const auto* const sign = !pattern.writes ? "%R~" : !pattern.reads ? "%W~" : "~";
    append(list, sign + pattern.text);
  }
  return list;
}

std::string selector::channel_text() const {
  if (every_channel_) return "&*";
  std::string list;
  for (const auto& pattern : channels_) append(list, "&" + pattern);
  return list;
}

std::string selector::text() const {
  auto list = key_text();
  if (!every_channel_) append(list, "resetchannels");
  if (const auto channels = channel_text(); !channels.empty()) append(list, channels);
  append(list, command_text());
  return list;
}

}  // namespace strata::runtime::cache
