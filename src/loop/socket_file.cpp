#include "loop/socket_file.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>

#include "strata/base/unique_fd.hpp"

namespace strata::loop {

namespace {

std::atomic<bool> are_all_kept = false;

}  // namespace

void socket_file::keep_all(bool is_kept) { are_all_kept = is_kept; }

socket_file::socket_file(std::string path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return;
  path_ = std::move(path);
  device_ = found.st_dev;
  inode_ = found.st_ino;
}

socket_file& socket_file::operator=(socket_file&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  device_ = other.device_;
  inode_ = other.inode_;
  return *this;
}

void socket_file::remove() {
  if (path_.empty()) return;
  struct stat found{};
  const bool is_ours =
      ::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
  if (is_ours && !are_all_kept) ::unlink(path_.c_str());
  path_.clear();
}

namespace {

// Opens the file, since its name may refer to another file later.
result<unique_fd> open_socket_file(const std::string& path, const std::string& operation) {
  unique_fd socket(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat found{};
  if (!socket || ::fstat(socket.get(), &found) != 0) return system_failure(errno, operation);
  if (S_ISSOCK(found.st_mode) && found.st_uid == ::geteuid()) return socket;
  return failure(errc::conflict, operation, "something else lies there by now");
}

// The mode of an O_PATH descriptor can be changed only through its name below /proc.
bool change_mode(const unique_fd& fd, mode_t mode) {
  const auto itself = "/proc/self/fd/" + std::to_string(fd.get());
  return ::chmod(itself.c_str(), mode) == 0;
}

}  // namespace

result<gid_t> find_group(const std::string& name) {
  if (const auto* const found = ::getgrnam(name.c_str())) return found->gr_gid;
  gid_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, code] = std::from_chars(name.data(), end, number);
  if (!name.empty() && code == std::errc{} && rest == end) return number;
  return failure(errc::not_found, "let in the group '" + name + "'", "there is no such group",
                 "see 'getent group'");
}

result<void> set_socket_mode(const std::string& path, mode_t mode) {
  const auto operation = "set the mode of the socket '" + path + "'";
  const auto socket = open_socket_file(path, operation);
  if (!socket) return std::unexpected(socket.error());
  if (!change_mode(*socket, mode)) return system_failure(errno, operation);
  return {};
}

result<void> give_socket(const std::string& path, gid_t group, mode_t mode) {
  const auto operation = "give the socket '" + path + "' to group " + std::to_string(group);
  const auto socket = open_socket_file(path, operation);
  if (!socket) return std::unexpected(socket.error());
  if (::fchownat(socket->get(), "", -1U, group, AT_EMPTY_PATH) != 0 ||
      !change_mode(*socket, mode)) {
    return system_failure(errno, operation, "make the daemon's user a member of it");
  }
  return {};
}

}  // namespace strata::loop
