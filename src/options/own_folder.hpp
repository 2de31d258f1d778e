// Folders into which nobody else can put anything. What the daemon keeps, and the socket by which
// it is given secrets, must lie in such a folder: in another, their names lead wherever its owner
// likes.
//
// A folder is opened once and never through a link; what is in it is then reached from its
// descriptor, so that a name that changes meanwhile changes nothing.
#pragma once

#include <sys/stat.h>

#include <string>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::options {

/// Opens the folder `path`. Where it is missing it is made, with mode 0700, and its parents with
/// the usual mode. Errors: permission_denied when it belongs to another user or others may write
/// to it, conflict when it is no folder or a link; `remedy` tells how to name another.
[[nodiscard]] result<unique_fd> open_own_folder(const std::string& path, const std::string& remedy);

/// The same for the folder `name` in an open one, which messages call `shown`.
[[nodiscard]] result<unique_fd> open_own_folder_in(int parent, const std::string& name,
                                                   const std::string& shown);

/// The folder that `socket` lies in; "." when its path names none.
[[nodiscard]] std::string folder_of(const std::string& socket);

/// Whether the folder that `socket` lies in belongs to root or to this process's user, and nobody
/// else may replace what is in it: others may write to it only where each removes but their own
/// files, as in /tmp. Errors: permission_denied; not_found and others of the file system.
[[nodiscard]] result<void> check_socket_folder(const std::string& socket);

/// Opens the folder `path` of `text`, if it is such a one. Errors: as above, with `remedy`.
[[nodiscard]] result<unique_fd> open_safe_folder(const std::string& path, const std::string& text,
                                                 const std::string& remedy);

/// "user 1000", for messages.
[[nodiscard]] std::string user_text(uid_t user);

}  // namespace strata::options
