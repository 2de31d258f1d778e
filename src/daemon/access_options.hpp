// The access to the control API that the daemon's options give.
#pragma once

#include <optional>
#include <string>

#include "daemon/api/control_api.hpp"
#include "daemon/api/control_socket.hpp"
#include "options/daemon_options.hpp"
#include "strata/base/result.hpp"

namespace strata::daemon {

/// The group that may use the control socket; nullopt: none. Errors: there is no such group.
[[nodiscard]] result<std::optional<socket_group>> group_of(const options::daemon_options& options);
/// Whom `--listen` admits. Errors: a file cannot be read; a role is none.
[[nodiscard]] result<remote_access> remote_access_of(const options::daemon_options& options);
/// Whether the text is an https:// endpoint.
[[nodiscard]] bool is_secure_web(const std::string& text);

}  // namespace strata::daemon
