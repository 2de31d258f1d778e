// Secrets that the service manager passes to the daemon: systemd's credentials (systemd.exec(5),
// LoadCredential=). An option holds a reference, `credential:NAME`, in place of a secret, and so do
// the state folder and its backups; the secret is read when it is needed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"

namespace strata::options {

/// The prefix of a reference. No secret starts with it: it would be taken for a reference.
inline constexpr std::string_view credential_prefix = "credential:";

/// The name in a reference; nullopt for anything else.
[[nodiscard]] std::optional<std::string_view> credential_name(std::string_view value);

/// Checks a credential's name, which is a file name. Errors: invalid_argument.
[[nodiscard]] result<void> check_credential_name(std::string_view name);

/// Returns the secret that `value` stands for: for a reference, the first line of the file of that
/// name in the folder CREDENTIALS_DIRECTORY, otherwise `value` itself. Never blocks and follows no
/// link. Errors: not_found if there is no such folder or file; permission_denied if a user other
/// than root and this one could have put it there; invalid_argument if the content cannot be a
/// secret.
[[nodiscard]] result<std::string> secret_of(std::string_view value);

}  // namespace strata::options
