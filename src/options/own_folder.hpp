// Folders into which no other user can put anything. The daemon's data, and the socket that carries
// its secrets, must lie in such a folder: elsewhere, the folder's owner decides where their names
// lead.
//
// A folder is opened once and never through a link; its contents are then reached from its
// descriptor, so that renaming the path meanwhile has no effect.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::options {

/// Opens the folder `path`. If it is missing it is created, with mode 0700, and its parents with
/// the default mode. Errors: permission_denied if it belongs to another user or others may write to
/// it; conflict if it is no folder or a link; `remedy` says how to name another.
[[nodiscard]] result<unique_fd> open_own_folder(const std::string& path, const std::string& remedy);

/// The same for the folder `name` in an open one, which messages call `shown`.
[[nodiscard]] result<unique_fd> open_own_folder_in(int parent, const std::string& name,
                                                   const std::string& shown);

/// The folder of `socket`; "." if its path names none.
[[nodiscard]] std::string folder_of(const std::string& socket);

/// Returns `KIND.sock` beside the default control socket `strata.sock`, and `NAME-KIND.sock` beside
/// any other `NAME.sock`, so that daemons with control sockets in one folder do not collide.
[[nodiscard]] std::string path_beside(const std::string& socket, std::string_view kind);

/// Checks that the folder of `socket` belongs to root or to this process's user, and that no other
/// user may replace its contents: others may write to it only if each may remove just their own
/// files, as in /tmp. Errors: permission_denied; not_found and others of the file system.
[[nodiscard]] result<void> check_socket_folder(const std::string& socket);

/// Opens the folder `path` of `text`, if it passes the same check. Errors: as above, with `remedy`.
[[nodiscard]] result<unique_fd> open_safe_folder(const std::string& path, const std::string& text,
                                                 const std::string& remedy);

/// Formats a user for messages: "user 1000".
[[nodiscard]] std::string user_text(uid_t user);

}  // namespace strata::options
