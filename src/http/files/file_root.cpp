#include "http/files/file_root.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "loop/file_store.hpp"

namespace strata::http {

namespace {

file_version version_of(const struct stat& status) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<std::uint64_t>(status.st_size),
          .modified_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec};
}

}  // namespace

result<file_root> file_root::open(const std::string& folder, const std::string& operation,
                                  const std::string& remedy) {
  unique_fd opened(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened) {
    return std::unexpected(system_error(errno, operation, remedy));
  }
  const unique_fd tried(loop::open_beneath(opened.get(), "", loop::for_reading));
  if (!tried) {
    const bool is_forbidden = errno == ENOSYS || errno == EPERM;
    return std::unexpected(system_error(errno, operation,
                                        is_forbidden ? "openat2 must be allowed here"
                                                     : "give strata permission to "
                                                       "read the folder"));
  }
  return file_root(std::move(opened));
}

std::expected<opened_file, int> file_root::open_below(std::string_view relative) const {
  opened_file made{.fd = unique_fd(loop::open_beneath(folder_.get(), relative, loop::for_reading))};
  if (!made.fd) return std::unexpected(errno);
  struct stat of{};
  if (::fstat(made.fd.get(), &of) != 0) return std::unexpected(errno);
  made.is_folder = S_ISDIR(of.st_mode);
  if (!made.is_folder && !S_ISREG(of.st_mode)) return std::unexpected(ENOENT);
  made.version = version_of(of);
  return made;
}

unique_fd file_root::open_itself(std::string_view relative) const {
  return unique_fd(loop::open_beneath(folder_.get(), relative, O_PATH | O_CLOEXEC,
                                      RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV));
}

bool file_root::is_itself(std::string_view relative, const file_version& version) const {
  const auto opened = open_itself(relative);
  struct stat of{};
  return opened && ::fstat(opened.get(), &of) == 0 && S_ISREG(of.st_mode) && of.st_nlink == 1 &&
         version_of(of) == version;
}

int status_of_open(int failed_with) {
  switch (failed_with) {
    case EACCES:
    case EPERM: return 403;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
    case EIO: return 503;
    default: return 404;
  }
}

}  // namespace strata::http
