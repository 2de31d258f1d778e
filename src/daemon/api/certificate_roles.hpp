// The role that a client of the control API has by its certificate, as --client-role defines it.
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
  /// A longer subject is truncated for display, and two truncated ones could be equal.
  static constexpr std::size_t longest_subject = 512;

  /// Every client is admin.
  certificate_roles() = default;

  /// `ROLE:SUBJECT` is the role of certificates with SUBJECT (RFC 4514, as the log shows it);
  /// `ROLE` that of all others, which are admin by default. Errors: invalid_argument, naming the
  /// row.
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
