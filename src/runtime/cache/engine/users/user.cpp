#include "runtime/cache/engine/users/user.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "net/tls/digest.hpp"
#include "text/secret.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::size_t hash_digits = 64;

std::string in_hexadecimal(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

std::string hash_of_password(std::string_view password) {
  return in_hexadecimal(net::digest("sha256", as_bytes(password)).value_or(""));
}

bool is_hash(std::string_view text) {
  return text.size() == hash_digits && std::ranges::all_of(text, [](char each) {
           return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'f');
         });
}

// A rule can contain a password: the error does not repeat it.
std::unexpected<error> refuse(std::string_view reason) {
  return failure(errc::invalid_argument, "apply a rule", std::string(reason));
}

selector first_selector(channel_default channels) {
  selector fresh;
  if (channels == channel_default::all) (void)fresh.apply("allchannels");
  return fresh;
}

}  // namespace

user::user(std::string name, channel_default channels)
    : name_(std::move(name)), channels_(channels), selectors_{first_selector(channels)} {}

user user::make_default() {
  user made("default", channel_default::all);
  for (const auto* const rule : {"on", "nopass", "~*", "+@all"}) (void)made.apply(rule);
  return made;
}

result<void> user::apply(std::string_view rule) {
  if (rule.empty()) return {};
  if (const auto applied = apply_flag(rule)) return *applied;
  if (rule.starts_with('(')) return add_selector(rule);
  constexpr std::string_view password_signs = "><#!";
  if (password_signs.contains(rule.front())) return apply_password(rule);
  return selectors_.front().apply(rule);
}

std::optional<result<void>> user::apply_flag(std::string_view rule) {
  const auto is = [rule](std::string_view name) { return text::same_text(rule, name); };
  if (is("on")) {
    is_enabled_ = true;
  } else if (is("off")) {
    is_enabled_ = false;
  } else if (is("nopass")) {
    needs_password_ = false;
    passwords_.clear();
  } else if (is("resetpass")) {
    needs_password_ = true;
    passwords_.clear();
  } else if (is("sanitize-payload")) {
    payload_check_ = payload_check::always;
  } else if (is("skip-sanitize-payload")) {
    payload_check_ = payload_check::never;
  } else if (is("clearselectors")) {
    selectors_.resize(1);
  } else if (is("reset")) {
    reset();
  } else {
    return {};
  }
  return result<void>{};
}

void user::reset() {
  is_enabled_ = false;
  needs_password_ = true;
  payload_check_ = payload_check::always;
  passwords_.clear();
  selectors_.assign(1, first_selector(channels_));
}

result<void> user::apply_password(std::string_view rule) {
  const bool is_clear = rule.front() == '>' || rule.front() == '<';
  const bool is_added = rule.front() == '>' || rule.front() == '#';
  rule.remove_prefix(1);
  if (!is_clear && !is_hash(rule)) {
    return refuse(
        "The password hash must be exactly 64 characters and contain only lowercase hexadecimal "
        "characters");
  }
  const auto hash = is_clear ? hash_of_password(rule) : std::string(rule);
  const auto known = std::ranges::find(passwords_, hash);
  if (is_added) {
    if (known == passwords_.end()) passwords_.push_back(hash);
    needs_password_ = true;
  } else if (known != passwords_.end()) {
    passwords_.erase(known);
  } else {
    return refuse("The password you are trying to remove from the user does not exist");
  }
  return {};
}

result<void> user::add_selector(std::string_view rule) {
  if (!rule.ends_with(')')) return refuse("Syntax error");
  auto added = first_selector(channels_);
  auto rest = rule.substr(1, rule.size() - 2);
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (rest.empty()) break;
    const auto word = rest.substr(0, rest.find(' '));
    // In the user's text, it would end the selector.
    if (word.ends_with(')')) return refuse("Syntax error");
    if (auto applied = added.apply(word); !applied) return applied;
    rest.remove_prefix(word.size());
  }
  selectors_.push_back(std::move(added));
  return {};
}

void user::set_password(std::string_view password) {
  passwords_.clear();
  needs_password_ = !password.empty();
  if (needs_password_) passwords_.push_back(hash_of_password(password));
}

bool user::accepts(std::string_view password) const {
  if (!is_enabled_) return false;
  if (!needs_password_) return true;
  const auto hash = hash_of_password(password);
  return std::ranges::any_of(passwords_, [&](const std::string& known) {
    return text::equal_in_constant_time(hash, known);
  });
}

// --- checks

// If no selector permits the call, the most specific reason counts.
std::optional<access_denial> user::check(const command& command,
                                         std::span<const std::string_view> words) const {
  if (is_unrestricted()) return {};
  const command_request request(command, words);
  access_denial most_specific;
  for (const auto& selector : selectors_) {
    const auto denial = selector.check(request);
    if (!denial) return {};
    if (denial->subject > most_specific.subject ||
        (denial->subject == most_specific.subject && denial->position > most_specific.position)) {
      most_specific = *denial;
    }
  }
  return most_specific;
}

bool user::may_read_all(const command& command, std::span<const std::string_view> words) const {
  return std::ranges::any_of(selectors_, [&](const selector& selector) {
    return selector.permits_reading_all(command, words);
  });
}

bool user::may_receive(std::string_view channel, bool is_pattern) const {
  return std::ranges::any_of(selectors_, [&](const selector& selector) {
    return selector.permits_channel(channel, is_pattern);
  });
}

// --- as rules

std::vector<std::string_view> user::flags() const {
  std::vector<std::string_view> flags = {is_enabled_ ? "on" : "off"};
  if (!needs_password_) flags.emplace_back("nopass");
  if (payload_check_ == payload_check::always) flags.emplace_back("sanitize-payload");
  if (payload_check_ == payload_check::never) flags.emplace_back("skip-sanitize-payload");
  return flags;
}

std::string user::text() const {
  auto line = "user " + name_;
  for (const auto& flag : flags()) line.append(" ").append(flag);
  for (const auto& hash : passwords_) line += " #" + hash;
  line += " " + root().text();
  for (const auto& selector : selectors()) line += " (" + selector.text() + ")";
  return line;
}

std::string make_password(std::size_t digits) {
  auto password = in_hexadecimal(net::random_bytes((digits + 1) / 2));
  password.resize(digits);
  return password;
}

result<std::vector<std::string>> join_selectors(std::span<const std::string_view> words) {
  std::vector<std::string> rules;
  bool is_open = false;
  for (const auto& word : words) {
    if (is_open) {
      rules.back().append(" ").append(word);
    } else {
      rules.emplace_back(word);
      is_open = word.starts_with('(');
    }
    if (is_open && word.ends_with(')')) is_open = false;
  }
  if (is_open) return failure(errc::invalid_argument, "join a selector", rules.back());
  return rules;
}

}  // namespace strata::runtime::cache
