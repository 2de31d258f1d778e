#include "daemon/api/control_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "options/own_folder.hpp"

namespace strata::daemon {

namespace {

constexpr mode_t mode_for_others = 0755;
constexpr std::string_view other_socket = "choose another path with --socket";

result<void> make_folder(const std::string& folder, const folder_access& access) {
  const auto made = options::open_own_folder(folder, std::string(other_socket));
  if (!made) return std::unexpected(made.error());
  if (!access.group && !access.everybody) return {};
  const bool failed = (access.group && ::fchown(made->get(), -1U, *access.group) != 0) ||
                      ::fchmod(made->get(), mode_for_others) != 0;
  if (!failed) return {};
  return system_failure(errno, "grant other users access to the folder '" + folder + "'");
}

// An administrator's folder is not changed, but a group that cannot reach the socket is an error
// that is hard to find.
void warn_of_closed_folder(const std::string& folder, gid_t group) {
  struct stat found{};
  if (::stat(folder.c_str(), &found) != 0) return;
  const bool is_open =
      (found.st_mode & S_IXOTH) != 0 || (found.st_gid == group && (found.st_mode & S_IXGRP) != 0);
  if (is_open) return;
  spdlog::warn(
      "group {} cannot reach the control socket: it has no access to the folder '{}'; "
      "run 'chmod 755' on it",
      group, folder);
}

}  // namespace

result<void> prepare_socket_folder(const std::string& socket, const folder_access& access) {
  if (socket.empty()) {
    return failure(errc::invalid_argument, "create the control socket",
                   "this user has no home folder, and no variable sets a path",
                   "set a path with --socket or STRATA_SOCKET");
  }
  const auto folder = options::folder_of(socket);
  struct stat found{};
  if (::stat(folder.c_str(), &found) != 0 && errno == ENOENT) {
    if (auto made = make_folder(folder, access); !made) return made;
  } else if (access.group) {
    warn_of_closed_folder(folder, *access.group);
  }
  return options::check_socket_folder(socket);
}

}  // namespace strata::daemon
