// The part of the front that knows which user a client is, and what the user may do.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/cache/engine/clients/client_text.hpp"
#include "runtime/cache/engine/front.hpp"
#include "runtime/cache/engine/users/acl_text.hpp"
#include "text/utf8.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

std::string_view name_of(denied_subject subject) {
  switch (subject) {
    case denied_subject::command: return "command";
    case denied_subject::key: return "key";
    case denied_subject::channel: break;
  }
  return "channel";
}

bool has_forbidden_subscription(const client& client) {
  const auto is_forbidden = [&client](std::string_view channel) {
    return !client.user->may_receive(channel, false);
  };
  const auto is_forbidden_pattern = [&client](std::string_view pattern) {
    return !client.user->may_receive(pattern, true);
  };
  return std::ranges::any_of(client.channels, is_forbidden) ||
         std::ranges::any_of(client.shard_channels, is_forbidden) ||
         std::ranges::any_of(client.patterns, is_forbidden_pattern);
}

}  // namespace

// --- clients

void front::log_in(client& client, const user& user) {
  client.user = &user;
  client.is_trusted = true;
  client.is_unrestricted = is_unrestricted(client);
}

void front::log_out(client& client) {
  client.user = &users_.default_user();
  client.is_trusted = client.user->admits_anyone();
  client.is_unrestricted = is_unrestricted(client);
}

bool front::is_unrestricted(const client& client) const {
  return client.is_trusted && parameters_.access == permission::admin &&
         client.user->is_unrestricted();
}

std::optional<access_denial> front::check_access(client& client, const command& command,
                                                 std::span<const std::string_view> words,
                                                 acl_context context) {
  if (client.user == nullptr || client.is_replay) return {};
  const auto denial = client.user->check(command, words);
  if (denial) {
    note_denial(client, {.reason = name_of(denial->subject),
                         .context = context,
                         .object = denial->object(command, words),
                         .user = client.user->name()});
  }
  return denial;
}

void front::note_denial(client& client, acl_log_entry entry) {
  entry.client = client_text(*this, client);
  entry.time_ms = keys_.now_ms();
  acl_log_.add(std::move(entry), static_cast<std::size_t>(parameters_.acl_log_length));
}

// --- users

void front::set_user(user changed) {
  const auto name = changed.name();
  users_.set(std::move(changed));
  const auto& user = *users_.find(name);
  end_forbidden_subscriptions(user);
  apply_permissions();
}

void front::end_forbidden_subscriptions(const user& user) {
  for (auto* each : clients_) {
    if (each->user == &user && each->is_subscribed() && has_forbidden_subscription(*each)) {
      each->disconnect(false);
    }
  }
}

void front::replace_users(std::vector<user> users) {
  std::vector<std::string> gone;
  for (const auto& [name, user] : users_.all()) gone.push_back(name);
  for (const auto& name : gone) remove_user(name);
  for (auto& each : users) set_user(std::move(each));
}

void front::remove_user(std::string_view name) {
  if (name == default_user_name) return;
  const auto* const gone = users_.find(name);
  if (gone == nullptr) return;
  for (auto* each : clients_) {
    if (each->user != gone) continue;
    // It must not act as anybody until it is disconnected, after its reply if it asked for this.
    each->user = &users_.default_user();
    each->is_trusted = each->is_unrestricted = false;
    each->disconnect(true);
  }
  users_.remove(name);
}

void front::apply_user_options(std::span<const std::string> earlier) {
  const auto& present = parameters_.options.user;
  const auto is_named = [](std::span<const std::string> texts, std::string_view name) {
    return std::ranges::any_of(
        texts, [name](const std::string& text) { return user_name_in(text) == name; });
  };
  for (const auto& text : earlier) {
    const auto name = user_name_in(text);
    if (is_named(present, name)) continue;
    if (name == default_user_name) set_user(default_user_of_options());
    remove_user(name);
  }
  for (const auto& text : present) {
    if (std::ranges::find(earlier, text) != earlier.end()) continue;
    if (auto read = parse_user(text, channel_default::none)) set_user(std::move(*read));
  }
}

// Options are shown and stored as JSON, which is UTF-8, and have a largest size.
result<void> front::keep_users() {
  const auto usual = default_user_of_options().text();
  auto texts = nlohmann::json::array();
  for (const auto& [name, user] : users_.all()) {
    const auto text = user.text();
    if (text == usual) continue;
    if (!text::is_utf8(text)) {
      return failure(errc::invalid_argument, "keep the users",
                     fmt::format("user {} has a name, a pattern or an argument that is not UTF-8",
                                 text::quoted(name)));
    }
    texts.push_back(text.substr(std::string_view("user ").size()));
  }
  auto changed = parameters_;
  const nlohmann::json options = {{"user", std::move(texts)}};
  if (auto set = apply_json(changed.options, option_table(), options); !set) return set;
  configure(std::move(changed));
  return {};
}

user front::default_user_of_options() const {
  auto usual = user::make_default();
  usual.set_password(parameters_.options.password);
  return usual;
}

// The option and the default user's password are one value, until a client sets other rules.
void front::apply_permissions() {
  if (applied_password_ != parameters_.options.password) {
    applied_password_ = parameters_.options.password;
    users_.default_user().set_password(applied_password_);
  }
  for (auto* each : clients_) each->is_unrestricted = is_unrestricted(*each);
}

}  // namespace strata::runtime::cache
