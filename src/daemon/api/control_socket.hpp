// Where the control socket lies, and which users may connect to it: root and the daemon's own user,
// and a group where one was named. Nobody else may be able to replace it, since the CLI sends
// secrets there.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "strata/base/result.hpp"

namespace strata::daemon {

/// The group that, besides the daemon's user, has to get at what lies in the socket's folder.
struct folder_guests {
  std::optional<gid_t> group;
  bool everybody = false;
};

/// Makes the folder where it is missing: for the daemon's user alone, unless there are guests. One
/// that is there is left as it is. Errors: those of `options::check_socket_folder`, and of making
/// it.
[[nodiscard]] result<void> prepare_socket_folder(const std::string& socket,
                                                 const folder_guests& guests);

}  // namespace strata::daemon
