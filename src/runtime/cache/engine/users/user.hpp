// A user of the cache: passwords and permissions, as ACL SETUSER sets them. Source: "ACL",
// redis.io.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cache/engine/users/selector.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::cache {

/// What a new user may do with channels: "acl-pubsub-default".
enum class channel_default : bool { none, all };

class user {
 public:
  /// A new user may do nothing, and is disabled.
  user(std::string name, channel_default channels);
  /// Returns the user of clients that do not log in: without a password, and with all permissions.
  [[nodiscard]] static user make_default();

  /// Applies one rule; a selector in parentheses is one rule. Errors: the reason is Redis's text;
  /// nothing is changed then.
  [[nodiscard]] result<void> apply(std::string_view rule);
  /// Replaces the passwords by this one; empty: none is needed.
  void set_password(std::string_view password);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool is_enabled() const { return is_enabled_; }
  [[nodiscard]] bool needs_password() const { return needs_password_; }
  [[nodiscard]] bool accepts(std::string_view password) const;
  /// Reports whether a client is this user without logging in.
  [[nodiscard]] bool admits_anyone() const { return is_enabled_ && !needs_password_; }

  [[nodiscard]] std::optional<access_denial> check(const command& command,
                                                   std::span<const std::string_view> words) const;
  [[nodiscard]] bool is_unrestricted() const { return selectors_.front().permits_everything(); }
  [[nodiscard]] bool may_read_all(const command& command,
                                  std::span<const std::string_view> words) const;
  [[nodiscard]] bool may_receive(std::string_view channel, bool is_pattern) const;

  // --- as rules
  [[nodiscard]] std::vector<std::string_view> flags() const;
  /// SHA-256, in hexadecimal digits.
  [[nodiscard]] std::span<const std::string> password_hashes() const { return passwords_; }
  [[nodiscard]] const selector& root() const { return selectors_.front(); }
  /// Returns those beside the root.
  [[nodiscard]] std::span<const selector> selectors() const {
    return std::span(selectors_).subspan(1);
  }
  /// Returns "user NAME RULES", as a line of an ACL file.
  [[nodiscard]] std::string text() const;

 private:
  enum class payload_check : std::uint8_t { unset, always, never };

  [[nodiscard]] std::optional<result<void>> apply_flag(std::string_view rule);
  [[nodiscard]] result<void> apply_password(std::string_view rule);
  [[nodiscard]] result<void> add_selector(std::string_view rule);
  void reset();

  std::string name_;
  bool is_enabled_ = false;
  bool needs_password_ = true;
  payload_check payload_check_ = payload_check::unset;
  channel_default channels_;
  std::vector<std::string> passwords_;
  std::vector<selector> selectors_;  // the root first
};

/// Returns a password of random hexadecimal digits.
[[nodiscard]] std::string make_password(std::size_t digits);

/// Joins the words of each selector to one rule: "(+get", "~a)". Errors: a selector does not end;
/// the reason is its beginning.
[[nodiscard]] result<std::vector<std::string>> join_selectors(
    std::span<const std::string_view> words);

}  // namespace strata::runtime::cache
