// The folder of the control socket, and the users that may connect to it: root, the daemon's own
// user, and a group if configured. No other user may be able to replace the socket, since the CLI
// sends secrets to it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "strata/base/result.hpp"

namespace strata::daemon {

/// Which users, besides the daemon's own, need access to the socket's folder.
struct folder_access {
  std::optional<gid_t> group;
  bool everybody = false;
};

/// Creates the folder if it is missing: for the daemon's user alone, unless others need access. An
/// existing folder is not changed. Errors: those of `options::check_socket_folder`, and of creating
/// it.
[[nodiscard]] result<void> prepare_socket_folder(const std::string& socket,
                                                 const folder_access& access);

}  // namespace strata::daemon
