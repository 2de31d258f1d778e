// The users of a cache. The user "default" is always there.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "runtime/cache/engine/users/user.hpp"

namespace strata::runtime::cache {

inline constexpr std::string_view default_user_name = "default";

class user_table {
 public:
  user_table();
  user_table(const user_table&) = delete;
  user_table& operator=(const user_table&) = delete;

  /// Returns null if there is none.
  [[nodiscard]] const user* find(std::string_view name) const;
  [[nodiscard]] user& default_user() { return default_; }
  [[nodiscard]] const user& default_user() const { return default_; }
  /// Sets the user of that name. A known user keeps its address.
  void set(user changed);
  /// Removes a user. The default one remains.
  void remove(std::string_view name);
  /// Returns them in the order of their names.
  [[nodiscard]] const std::map<std::string, user, std::less<>>& all() const { return users_; }

  /// Returns the users as the lines of an ACL file.
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::string, user, std::less<>> users_;
  user& default_;
};

}  // namespace strata::runtime::cache
