// The file of a Unix socket that this process has bound. The owner's destructor removes it, but
// only if it is still the bound file: another process may have put its own there since.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "strata/base/result.hpp"

namespace strata::loop {

/// Returns the group's number; `name` may be a number. Errors: not_found.
[[nodiscard]] result<gid_t> find_group(const std::string& name);

/// Sets the mode of the Unix socket's file at `path`, without following links. Errors: conflict if
/// another file is there.
[[nodiscard]] result<void> set_socket_mode(const std::string& path, mode_t mode);
/// As `set_socket_mode`, and also gives the file to a group.
[[nodiscard]] result<void> give_socket(const std::string& path, gid_t group, mode_t mode);

class socket_file {
 public:
  /// While true, no file is removed: another process serves the sockets, or is about to. From any
  /// thread.
  static void keep_all(bool is_kept);

  socket_file() = default;
  /// Takes the file of a socket just bound at `path`. If there is no such file, as in the
  /// simulation, nothing will be removed.
  explicit socket_file(std::string path);
  socket_file(socket_file&& other) noexcept
      : path_(std::exchange(other.path_, {})), device_(other.device_), inode_(other.inode_) {}
  socket_file& operator=(socket_file&& other) noexcept;
  socket_file(const socket_file&) = delete;
  socket_file& operator=(const socket_file&) = delete;
  ~socket_file() { remove(); }

  /// Called before the socket is closed: until then no other file can have its inode.
  void remove();

 private:
  std::string path_;  // empty: nothing to remove
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace strata::loop
