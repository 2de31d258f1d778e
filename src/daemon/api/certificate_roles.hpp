// Which role a client of the control API has by its certificate, as --client-role says.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/operations.hpp"
#include "strata/base/result.hpp"

namespace strata::daemon {

class certificate_roles {
 public:
  /// A longer subject is cut where it is shown, and two that are cut could be equal.
  static constexpr std::size_t longest_subject = 512;

  /// Everybody is admin.
  certificate_roles() = default;

  /// `ROLE:SUBJECT` is the role of those whose certificate has SUBJECT (RFC 4514, as the log shows
  /// it); `ROLE` that of all others, else they are admin. Errors: invalid_argument, naming the row.
  [[nodiscard]] static result<certificate_roles> parse(std::span<const std::string> rows);

  [[nodiscard]] runtime::role find(std::string_view subject) const;

 private:
  struct row {
    std::string subject;
    runtime::role role;
  };

  std::vector<row> rows_;
  runtime::role usual_ = runtime::role::admin;
};

}  // namespace strata::daemon
