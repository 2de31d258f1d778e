#include "runtime/cache/engine/users/user_table.hpp"

namespace strata::runtime::cache {

user_table::user_table()
    : default_(users_.emplace(default_user_name, user::make_default()).first->second) {}

const user* user_table::find(std::string_view name) const {
  const auto found = users_.find(name);
  return found == users_.end() ? nullptr : &found->second;
}

void user_table::set(user changed) {
  const auto found = users_.find(changed.name());
  if (found == users_.end()) {
    auto name = changed.name();
    users_.emplace(std::move(name), std::move(changed));
  } else {
    found->second = std::move(changed);
  }
}

void user_table::remove(std::string_view name) {
  if (name == default_user_name) return;
  const auto found = users_.find(name);
  if (found != users_.end()) users_.erase(found);
}

std::string user_table::text() const {
  std::string text;
  for (const auto& [name, user] : users_) text += user.text() + "\n";
  return text;
}

}  // namespace strata::runtime::cache
