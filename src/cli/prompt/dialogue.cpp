#include "cli/prompt/dialogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "text/readable.hpp"
#include "text/word.hpp"

namespace strata::cli {

namespace {

using proto::resp_value;
using kind = resp_value::kind;
using words_type = std::vector<std::string>;

std::string word_at(const words_type& words, std::size_t offset) {
  return offset < words.size() ? text::in_small_letters(words[offset]) : std::string();
}

bool is_about_subscriptions(std::string_view command) {
  constexpr std::array<std::string_view, 6> all = {"subscribe",    "unsubscribe", "psubscribe",
                                                   "punsubscribe", "ssubscribe",  "sunsubscribe"};
  return std::ranges::find(all, command) != all.end();
}

// "subscribe", "news", 1: confirms the given command. RESP2 has no pushes.
bool confirms(const resp_value& value, std::string_view command) {
  return (value.what == kind::push || value.what == kind::array) && value.elements.size() == 3 &&
         value.elements[0].text == command && value.elements[2].what == kind::integer;
}

}  // namespace

outcome<> cache_talk::begin(const std::string& password) {
  if (auto greeted = greet(); !greeted || has_greeted_ || password.empty()) return greeted;
  const words_type auth = {"AUTH", password};
  if (auto sent = link_.send(auth); !sent) return sent;
  const auto answer = link_.wait();
  if (!answer) return std::unexpected(answer.error());
  if (answer->what != kind::error) return greet();
  return refuse(exit_failed, fmt::format("the cache answers: {}; give its password with --password "
                                         "@FILE, or in {}",
                                         text::printable(answer->text), password_variable));
}

outcome<> cache_talk::greet() {
  const words_type hello = {"HELLO", "3"};
  if (auto sent = link_.send(hello); !sent) return sent;
  const auto answer = link_.wait();
  if (!answer) return std::unexpected(answer.error());
  has_greeted_ = answer->what != kind::error;
  if (has_greeted_ || answer->text.starts_with("NOAUTH")) return {};
  return refuse(exit_failed, fmt::format("the cache answers: {}", text::printable(answer->text)));
}

outcome<> cache_talk::execute(const words_type& words) {
  const auto command = word_at(words, 0);
  if (auto sent = link_.send(words); !sent) return sent;
  if (has_no_reply(command, words)) return {};
  if (is_about_subscriptions(command)) {
    return await_subscriptions(command, std::max<std::size_t>(words.size() - 1, 1));
  }
  return await_reply(command, words);
}

bool cache_talk::has_no_reply(const std::string& command, const words_type& words) {
  if (command == "client" && word_at(words, 1) == "reply") {
    const auto how = word_at(words, 2);
    silence_ = how == "off" ? silence::all : how == "skip" ? silence::next : silence::none;
    return silence_ != silence::none;
  }
  const bool is_silent = silence_ != silence::none;
  if (silence_ == silence::next) silence_ = silence::none;
  return is_silent;
}

outcome<> cache_talk::await_reply(const std::string& command, const words_type& words) {
  for (;;) {
    const auto reply = link_.wait();
    if (!reply) return std::unexpected(reply.error());
    show_(*reply);
    if (reply->what == kind::push) continue;
    learn(command, words, *reply);
    const bool is_good = reply->what != kind::error;
    const bool starts_anew = command == "reset" || (command == "auth" && !has_greeted_);
    return is_good && starts_anew ? greet() : outcome<>{};
  }
}

outcome<> cache_talk::await_subscriptions(const std::string& command, std::size_t count) {
  while (count != 0) {
    const auto said = link_.wait();
    if (!said) return std::unexpected(said.error());
    show_(*said);
    if (said->what == kind::error || said->is(kind::status, "QUEUED")) return {};
    if (!confirms(*said, command)) continue;
    is_subscribed_ = said->elements[2].integer != 0;
    --count;
  }
  return {};
}

void cache_talk::learn(const std::string& command, const words_type& words,
                       const resp_value& reply) {
  if (command == "exec" || command == "discard") in_transaction_ = false;
  if (reply.what == kind::error || reply.is(kind::status, "QUEUED")) return;
  if (command == "multi") in_transaction_ = true;
  if (command == "monitor") is_monitoring_ = true;
  if (command == "select" && words.size() > 1) database_ = words[1];
  if (command == "hello") has_greeted_ = true;
  if (command == "reset") {
    database_ = "0";
    in_transaction_ = is_subscribed_ = false;
  }
}

outcome<std::optional<resp_value>> cache_talk::ask(const words_type& words) {
  if (in_transaction_ || is_subscribed_ || is_monitoring_ || silence_ != silence::none) {
    return std::nullopt;
  }
  if (auto sent = link_.send(words); !sent) return std::unexpected(sent.error());
  for (;;) {
    auto reply = link_.wait();
    if (!reply) return std::unexpected(reply.error());
    if (reply->what != kind::push) return std::move(*reply);
    show_(*reply);
  }
}

outcome<> cache_talk::receive() {
  if (auto more = link_.receive(); !more) return more;
  return show_arrived();
}

outcome<> cache_talk::show_arrived() {
  for (;;) {
    const auto said = link_.take();
    if (!said) return std::unexpected(said.error());
    if (!*said) return {};
    show_(**said);
  }
}

std::string cache_talk::state() const {
  std::string text;
  if (database_ != "0") text += fmt::format("[{}]", text::printable(database_));
  if (in_transaction_) text += "(TX)";
  if (is_subscribed_) text += "(subscribed mode)";
  return text;
}

std::string password_of_environment() {
  const char* const held = std::getenv(password_variable);
  return held == nullptr ? "" : held;
}

bool is_secret(const words_type& words) {
  const auto command = word_at(words, 0);
  if (command == "auth" || command == "migrate") return true;
  if (command == "acl") return word_at(words, 1) == "setuser";
  const bool sets = command == "config" && word_at(words, 1) == "set";
  return std::ranges::any_of(words, [&](const std::string& word) {
    const auto name = text::in_small_letters(word);
    return (command == "hello" && name == "auth") ||
           (sets && (name.ends_with("auth") || name.ends_with("pass")));
  });
}

}  // namespace strata::cli
