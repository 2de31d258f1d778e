// A set of permissions: commands, keys and channels. A user has one, and may have more; a call is
// permitted if one of them permits all of it. Source: "ACL", redis.io.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cache/engine/users/access_denial.hpp"
#include "runtime/cache/engine/users/command_permissions.hpp"
#include "runtime/cache/engine/users/command_request.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::cache {

class selector {
 public:
  /// Applies a rule such as "+get", "~key*", "%R~key*", "&channel" or "resetkeys". Errors: the
  /// reason is Redis's text.
  [[nodiscard]] result<void> apply(std::string_view rule);

  /// Returns why it does not permit the call; nullopt if it does.
  [[nodiscard]] std::optional<access_denial> check(const command_request& request) const;
  [[nodiscard]] bool permits_everything() const {
    return every_key_ && every_channel_ && commands_.allows_all();
  }
  /// Reports whether it permits the command to read keys that its words do not name.
  [[nodiscard]] bool permits_reading_all(const command& command,
                                         std::span<const std::string_view> words) const;
  [[nodiscard]] bool permits_channel(std::string_view channel, bool is_pattern) const;

  // As rules.
  [[nodiscard]] std::string command_text() const { return commands_.text(); }
  [[nodiscard]] std::string key_text() const;
  [[nodiscard]] std::string channel_text() const;
  [[nodiscard]] std::string text() const;

 private:
  struct key_pattern {
    std::string text;
    bool reads;
    bool writes;
  };

  [[nodiscard]] result<void> add_keys(std::string_view rule);
  [[nodiscard]] result<void> add_channels(std::string_view rule);
  [[nodiscard]] bool permits_key(std::string_view key, const key_access& access) const;

  command_permissions commands_;
  bool every_key_ = false;
  std::vector<key_pattern> keys_;
  bool every_channel_ = false;
  std::vector<std::string> channels_;
};

}  // namespace strata::runtime::cache
