// Secrets that the service manager gives the daemon: systemd's credentials (systemd.exec(5),
// LoadCredential=). An option has a reference, `credential:NAME`, in a secret's place, and so have
// the state folder and its backups; what it stands for is read when it is needed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"

namespace strata::options {

/// What a reference begins with. No secret does: it would be taken for one.
inline constexpr std::string_view credential_prefix = "credential:";

/// Of a reference, the name; nullopt of anything else.
[[nodiscard]] std::optional<std::string_view> credential_name(std::string_view value);

/// Errors: invalid_argument, when it cannot be a credential's, which is a file's name.
[[nodiscard]] result<void> check_credential_name(std::string_view name);

/// The secret that `value` stands for: of a reference the first line of the file of that name in
/// the folder that CREDENTIALS_DIRECTORY names, else `value` itself. Never waits, follows no link.
/// Errors: not_found when there is no folder or no such file; permission_denied when somebody else
/// than root and this user could have put it there; invalid_argument when it can be no secret.
[[nodiscard]] result<std::string> secret_of(std::string_view value);

}  // namespace strata::options
