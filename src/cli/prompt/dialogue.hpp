// The dialogue with a cache over one connection: which replies a command has, and how they change
// the state.
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

  /// `show` gets every reply, and unrequested messages of the cache.
  cache_talk(cache_link link, show_reply show) : link_(std::move(link)), show_(std::move(show)) {}

  /// Switches to RESP3. Sends `password` if it is given and the cache requires one; without it, an
  /// executed command may do so. Errors: the cache takes no more clients, or not this password.
  [[nodiscard]] outcome<> begin(const std::string& password);
  /// Sends a command and shows its replies. Errors: those of the link.
  [[nodiscard]] outcome<> execute(const std::vector<std::string>& words);
  /// Returns the reply to a command that changes nothing, without showing it. Nullopt if a command
  /// would not be answered at once, as in a transaction. Errors: those of the link.
  [[nodiscard]] outcome<std::optional<proto::resp_value>> ask(
      const std::vector<std::string>& words);
  /// Reads what is available, and shows unrequested messages.
  [[nodiscard]] outcome<> receive();
  /// The same for messages that are already read.
  [[nodiscard]] outcome<> show_arrived();

  [[nodiscard]] int fd() const { return link_.fd(); }
  [[nodiscard]] bool is_subscribed() const { return is_subscribed_; }
  /// Whether MONITOR was sent: then there are no more replies, but an endless series of lines.
  [[nodiscard]] bool is_monitoring() const { return is_monitoring_; }
  /// The state, to show behind the name: `[1]`, `(TX)`, `(subscribed mode)`.
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

/// The environment variable with a cache's password, and its value.
inline constexpr const char* password_variable = "STRATA_CACHE_PASSWORD";
[[nodiscard]] std::string password_of_environment();

/// Whether a command must not be stored, because of what it reveals.
[[nodiscard]] bool is_secret(const std::vector<std::string>& words);

}  // namespace strata::cli
