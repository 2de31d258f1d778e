#include "loop/file_root.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace strata::loop {

namespace {

// A rename that happens meanwhile makes the kernel give up (openat2(2), EAGAIN).
constexpr int most_tries = 4;

// Without O_NONBLOCK a FIFO would hold the loop until somebody writes to it.
constexpr std::uint64_t for_reading = O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
constexpr std::uint64_t beneath = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;

int open_as(int folder, const char* path, std::uint64_t flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = flags;
  how.resolve = resolve;
  for (int tries = 1;; ++tries) {
    const auto fd = ::syscall(SYS_openat2, folder, path, &how, sizeof how);
    if (fd >= 0 || errno != EAGAIN || tries == most_tries) return static_cast<int>(fd);
  }
}

// An empty path is the folder itself. -1 and errno when it cannot be opened.
int open_at(int folder, std::string_view relative, std::uint64_t flags, std::uint64_t resolve) {
  std::array<char, 4200> path{};
  if (relative.size() >= path.size()) {
    errno = ENAMETOOLONG;
    return -1;
  }
  if (relative.empty()) relative = ".";
  std::memcpy(path.data(), relative.data(), relative.size());
  path[relative.size()] = '\0';
  return open_as(folder, path.data(), flags, resolve);
}

file_version version_of(const struct stat& of) {
  return {.device = of.st_dev,
          .inode = of.st_ino,
          .size = static_cast<std::uint64_t>(of.st_size),
          .modified_ns = of.st_mtim.tv_sec * 1'000'000'000 + of.st_mtim.tv_nsec};
}

}  // namespace

result<file_root> file_root::open(const std::string& folder, const std::string& operation,
                                  const std::string& remedy) {
  unique_fd opened(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened) {
    return std::unexpected(system_error(errno, operation, remedy));
  }
  const unique_fd tried(open_at(opened.get(), "", for_reading, beneath));
  if (!tried) {
    const bool is_forbidden = errno == ENOSYS || errno == EPERM;
    return std::unexpected(
        system_error(errno, operation,
                     is_forbidden ? "openat2 must be allowed here" : "let strata read the folder"));
  }
  return file_root(std::move(opened));
}

std::expected<opened_file, int> file_root::open_below(std::string_view relative) const {
  opened_file made{.fd = unique_fd(open_at(folder_.get(), relative, for_reading, beneath))};
  if (!made.fd) return std::unexpected(errno);
  struct stat of{};
  if (::fstat(made.fd.get(), &of) != 0) return std::unexpected(errno);
  made.is_folder = S_ISDIR(of.st_mode);
  if (!made.is_folder && !S_ISREG(of.st_mode)) return std::unexpected(ENOENT);
  made.version = version_of(of);
  return made;
}

unique_fd file_root::open_itself(std::string_view relative) const {
  return unique_fd(open_at(folder_.get(), relative, O_PATH | O_CLOEXEC,
                           beneath | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV));
}

bool file_root::is_itself(std::string_view relative, const file_version& what) const {
  const auto opened = open_itself(relative);
  struct stat of{};
  return opened && ::fstat(opened.get(), &of) == 0 && S_ISREG(of.st_mode) && of.st_nlink == 1 &&
         version_of(of) == what;
}

}  // namespace strata::loop
