// What is being said with a cache over one connection: which replies a command has, and what they
// mean for what comes next.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/outcome.hpp"
#include "cli/prompt/connection.hpp"

namespace strata::cli {

class cache_talk {
 public:
  using show_reply = std::function<void(const proto::resp_value&)>;

  /// `show` gets every reply, and what the cache says without being asked.
  cache_talk(cache_link link, show_reply show) : link_(std::move(link)), show_(std::move(show)) {}

  /// Agrees on RESP3. Says `password`, where there is one and the cache wants one; without it what
  /// is executed may do so. Errors: the cache takes no more clients, or not this password.
  [[nodiscard]] outcome<> begin(const std::string& password);
  /// Sends a command and shows its replies. Errors: of the link.
  [[nodiscard]] outcome<> execute(const std::vector<std::string>& words);
  /// The reply to a command that changes nothing; it is not shown. Nothing where a command would
  /// not be answered at once, as in a transaction. Errors: of the link.
  [[nodiscard]] outcome<std::optional<proto::resp_value>> ask(
      const std::vector<std::string>& words);
  /// Shows what has been said without being asked; takes in what can be read first.
  [[nodiscard]] outcome<> hear();
  /// The same for what is here already.
  [[nodiscard]] outcome<> show_arrived();

  [[nodiscard]] int fd() const { return link_.fd(); }
  [[nodiscard]] bool is_subscribed() const { return is_subscribed_; }
  /// MONITOR was said: there will be no replies any more, but lines without end.
  [[nodiscard]] bool is_monitoring() const { return is_monitoring_; }
  /// What tells the state, to stand behind the name: `[1]`, `(TX)`, `(subscribed mode)`.
  [[nodiscard]] std::string state() const;

 private:
  enum class silence : std::uint8_t { none, next, all };

  [[nodiscard]] outcome<> greet();
  [[nodiscard]] outcome<> await_reply(const std::string& command,
                                      const std::vector<std::string>& words);
  [[nodiscard]] outcome<> await_subscriptions(const std::string& command, std::size_t count);
  [[nodiscard]] bool has_no_reply(const std::string& command,
                                  const std::vector<std::string>& words);
  void learn(const std::string& command, const std::vector<std::string>& words,
             const proto::resp_value& reply);

  cache_link link_;
  show_reply show_;
  std::string database_ = "0";
  silence silence_ = silence::none;
  bool has_greeted_ = false;
  bool in_transaction_ = false;
  bool is_subscribed_ = false;
  bool is_monitoring_ = false;
};

/// The variable that holds the password of a cache, and what it holds.
inline constexpr const char* password_variable = "STRATA_CACHE_PASSWORD";
[[nodiscard]] std::string password_of_environment();

/// A command that must not be written down, for what it gives away.
[[nodiscard]] bool is_secret(const std::vector<std::string>& words);

}  // namespace strata::cli
