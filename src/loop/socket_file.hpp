// The file of a Unix socket that this process has bound. It goes with its owner, but only while it
// is the one that was bound: another process may have put its own there since.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "strata/base/result.hpp"

namespace strata::loop {

/// The group's number; a number is one. Errors: not_found.
[[nodiscard]] result<gid_t> find_group(const std::string& name);

/// Sets the mode of the Unix socket's file at `path`, which no link is followed to. Errors:
/// conflict when something else lies there.
[[nodiscard]] result<void> set_socket_mode(const std::string& path, mode_t mode);
/// Gives it to a group besides.
[[nodiscard]] result<void> give_socket(const std::string& path, gid_t group, mode_t mode);

class socket_file {
 public:
  socket_file() = default;
  /// Of a socket just bound at `path`. Where there is no such file, as in the simulation, nothing
  /// will be removed.
  explicit socket_file(std::string path);
  socket_file(socket_file&& other) noexcept
      : path_(std::exchange(other.path_, {})), device_(other.device_), inode_(other.inode_) {}
  socket_file& operator=(socket_file&& other) noexcept;
  socket_file(const socket_file&) = delete;
  socket_file& operator=(const socket_file&) = delete;
  ~socket_file() { remove(); }

  /// To be called before the socket is closed: until then no other file can have its inode.
  void remove();

 private:
  std::string path_;  // empty: nothing to remove
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace strata::loop
