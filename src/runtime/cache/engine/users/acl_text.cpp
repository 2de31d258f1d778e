#include "runtime/cache/engine/users/acl_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) return words;
    words.push_back(line.substr(0, line.find(' ')));
    line.remove_prefix(words.back().size());
  }
}

// Returns what is wrong with the rules; empty if nothing is.
std::string apply_all(user& user, std::span<const std::string_view> words,
                      std::string_view line_name) {
  const auto rules = join_selectors(words);
  if (!rules) return fmt::format("{}: Unmatched parenthesis in selector definition.", line_name);
  for (const auto& rule : *rules) {
    const auto applied = user.apply(rule);
    if (applied) continue;
    const auto& error = applied.error();
    return error.code == errc::not_found ? fmt::format("{}: Error in applying operation '{}': {}. ",
                                                       line_name, rule, error.reason)
                                         : fmt::format("{}: {}. ", line_name, error.reason);
  }
  return {};
}

// Adds the user of a line to `users`. Returns what is wrong with the line; empty if nothing is.
std::string read_line(std::vector<user>& users, std::string_view line, std::string_view line_name,
                      std::size_t number, channel_default channels) {
  const auto words = split(line);
  if (words.size() < 2 || words[0] != "user") {
    return fmt::format("{} should start with user keyword followed by the username. ", line_name);
  }
  if (std::ranges::find(users, words[1], &user::name) != users.end()) {
    return fmt::format("WARNING: Duplicate user '{}' found on line {}. ", words[1], number);
  }
  if (!is_user_name(words[1])) {
    return fmt::format("'{}: username '{}' contains invalid characters. ", line_name, words[1]);
  }
  auto& added = users.emplace_back(std::string(words[1]), channels);
  return apply_all(added, std::span(words).subspan(2), line_name);
}

}  // namespace

bool is_user_name(std::string_view name) {
  return std::ranges::none_of(
      name, [](unsigned char each) { return each == '\0' || std::isspace(each) != 0; });
}

std::string_view user_name_in(std::string_view text) {
  const auto words = split(text);
  return words.empty() ? std::string_view() : words[0];
}

result<user> parse_user(std::string_view text, channel_default channels) {
  const auto words = split(text);
  if (words.empty() || !is_user_name(words[0])) {
    return failure(errc::invalid_argument, "read a user",
                   "'" + std::string(text) + "' does not begin with the name of a user");
  }
  user parsed{std::string(words[0]), channels};
  const auto name = fmt::format("user '{}'", words[0]);
  auto wrong = apply_all(parsed, std::span(words).subspan(1), name);
  if (wrong.empty()) return parsed;
  return failure(errc::invalid_argument, "read a user", std::string(text::trimmed(wrong, ". ")));
}

result<std::vector<user>> parse_acl(std::string_view text, std::string_view file,
                                    channel_default channels) {
  std::vector<user> users;
  std::string wrong;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto content = text::trimmed(line, " \t\r\n");
    if (content.empty() || content.starts_with('#')) continue;
    wrong += read_line(users, content, fmt::format("{}:{}", file, number), number, channels);
  }
  if (wrong.empty()) return users;
  return failure(errc::invalid_argument, "read an ACL file",
                 wrong +
                     "WARNING: ACL errors detected, no change to the previously active ACL "
                     "rules was performed");
}

}  // namespace strata::runtime::cache
