#include "loop/socket_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace strata::loop {

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
  if (is_ours) ::unlink(path_.c_str());
  path_.clear();
}

}  // namespace strata::loop
