#include "daemon/api/certificate_roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace strata::daemon {

result<certificate_roles> certificate_roles::parse(std::span<const std::string> rows) {
  certificate_roles roles;
  std::optional<runtime::role> usual;
  for (const auto& text : rows) {
    const auto operation = "use --client-role '" + text + "'";
    const auto colon = text.find(':');
    const auto role = runtime::find_role(std::string_view(text).substr(0, colon));
    if (!role) {
      return failure(errc::invalid_argument, operation, "it does not start with a role",
                     "write read, operate or admin, optionally with :SUBJECT");
    }
    if (colon == std::string::npos) {
      if (usual) {
        return failure(errc::invalid_argument, operation, "another role without a subject is set",
                       "remove one of them, or add :SUBJECT");
      }
      usual = role;
      continue;
    }
    auto subject = text.substr(colon + 1);
    if (subject.empty() || subject.size() > longest_subject) {
      return failure(errc::invalid_argument, operation,
                     fmt::format("its subject has {} bytes", subject.size()),
                     fmt::format("write 1 to {}, such as read:CN=ann", longest_subject));
    }
    roles.rows_.push_back({std::move(subject), *role});
  }
  roles.usual_ = usual.value_or(roles.usual_);
  return roles;
}

runtime::role certificate_roles::find(std::string_view subject) const {
  const auto found = std::ranges::find(rows_, subject, &row::subject);
  return found == rows_.end() ? usual_ : found->role;
}

}  // namespace strata::daemon
