#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "loop/file_store.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::loop {

namespace {

// A concurrent rename makes the kernel give up (openat2(2), EAGAIN).
constexpr int most_tries = 4;

class mapped_view final : public file_view {
 public:
  mapped_view(void* memory, std::size_t size) : memory_(memory), size_(size) {}
  ~mapped_view() override {
    if (size_ != 0) ::munmap(memory_, size_);
  }
  [[nodiscard]] std::string_view bytes() const override {
    return {static_cast<const char*>(memory_), size_};
  }

 private:
  void* memory_;
  std::size_t size_;
};

result<void> check_regular(const struct stat& status, const std::string& operation) {
  if (S_ISREG(status.st_mode)) return {};
  return failure(errc::invalid_argument, operation, "it is not a regular file",
                 "name a file, or a path at which one can be made");
}

// The lock belongs to the file, not to its name: two names of one file share one lock, and no lock
// file is left behind. So a file that replaces it must be locked before the rename, and the holder
// of a new lock must check that the file still has its name.
result<unique_fd> lock_file(const std::string& path, const std::string& operation) {
  auto file = open_regular(path, O_WRONLY | O_APPEND | O_CREAT, operation);
  // A snapshot that cannot be written is loaded nevertheless.
  if (!file && (file.error().sys_errno == EACCES || file.error().sys_errno == EROFS)) {
    if (auto readable = open_regular(path, O_RDONLY, operation)) file = std::move(readable);
  }
  if (!file || ::flock(file->get(), LOCK_EX | LOCK_NB) == 0) return file;
  const bool has_no_locks = errno == ENOSYS || errno == EOPNOTSUPP || errno == ENOLCK;
  if (has_no_locks) return file;
  if (errno != EWOULDBLOCK) return system_failure(errno, operation);
  return failure(errc::conflict, operation, "another runtime or another daemon writes it",
                 "name another file, or stop that one");
}

bool has_name(int fd, const std::string& path) {
  struct stat locked{};
  struct stat named{};
  return ::fstat(fd, &locked) == 0 && ::stat(path.c_str(), &named) == 0 &&
         locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

class kernel_files final : public file_store {
 public:
  result<file_claim> claim(const std::string& path) override {
    const std::string operation = "write '" + path + "'";
    // Each retry means that another process has renamed a file into place meanwhile.
    for (int tries = 0; tries < 100; ++tries) {
      auto locked = lock_file(path, operation);
      if (!locked) return std::unexpected(locked.error());
      if (has_name(locked->get(), path)) return file_claim(std::move(*locked));
    }
    return failure(errc::conflict, operation, "it is replaced again and again");
  }

  result<void> sync_folder_of(const std::string& path) override {
    auto folder = std::filesystem::path(path).parent_path().string();
    if (folder.empty()) folder = ".";
    const unique_fd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened || ::fsync(opened.get()) != 0) {
      return system_failure(errno, "sync the folder '" + folder + "'");
    }
    return {};
  }

  result<std::unique_ptr<file_view>> open(const std::string& path) override {
    const std::string operation = "open '" + path + "'";
    const auto opened = open_regular(path, O_RDONLY, operation);
    if (!opened) return std::unexpected(opened.error());
    struct stat found{};
    if (::fstat(opened->get(), &found) != 0) return system_failure(errno, operation);
    const auto size = static_cast<std::size_t>(found.st_size);
    void* memory = nullptr;
    if (size != 0) {
      memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened->get(), 0);
      if (memory == MAP_FAILED) return system_failure(errno, "map '" + path + "'");
      ::madvise(memory, size, MADV_SEQUENTIAL);
    }
    return std::make_unique<mapped_view>(memory, size);
  }

  bool exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }

  result<void> truncate(const std::string& path, std::uint64_t size) override {
    const auto operation = "cut '" + path + "' down to " + std::to_string(size) + " bytes";
    const auto opened = open_regular(path, O_WRONLY, operation);
    if (!opened) return std::unexpected(opened.error());
    if (::ftruncate(opened->get(), static_cast<off_t>(size)) != 0 || ::fsync(opened->get()) != 0) {
      return system_failure(errno, operation);
    }
    return {};
  }

  result<void> rename(const std::string& text, const std::string& destination) override {
    if (::rename(text.c_str(), destination.c_str()) != 0) {
      return system_failure(errno, "rename '" + text + "' to '" + destination + "'");
    }
    return {};
  }

  result<void> remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      return system_failure(errno, "remove '" + path + "'");
    }
    return {};
  }
};

}  // namespace

result<unique_fd> open_regular(const std::string& path, int flags, const std::string& operation) {
  struct stat found{};
  // Checked before opening, since opening some devices has side effects; and again after, since the
  // file may have been replaced.
  if (::stat(path.c_str(), &found) == 0) {
    if (auto good = check_regular(found, operation); !good) return std::unexpected(good.error());
  }
  unique_fd opened(::open(path.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  if (!opened || ::fstat(opened.get(), &found) != 0) return system_failure(errno, operation);
  if (auto good = check_regular(found, operation); !good) return std::unexpected(good.error());
  // On a regular file, O_NONBLOCK would only make io_uring reject operations that it cannot
  // complete at once.
  if (::fcntl(opened.get(), F_SETFL, flags & O_APPEND) != 0) {
    return system_failure(errno, operation);
  }
  return opened;
}

file_store& os_files() {
  static kernel_files only;
  return only;
}

int open_beneath(int folder, std::string_view relative, std::uint64_t flags,
                 std::uint64_t more_resolve) {
  std::array<char, 4200> path{};
  if (relative.size() >= path.size()) {
    errno = ENAMETOOLONG;
    return -1;
  }
  if (relative.contains('\0')) {  // no name contains one, and the rest would be dropped
    errno = ENOENT;
    return -1;
  }
  if (relative.empty()) relative = ".";
  std::memcpy(path.data(), relative.data(), relative.size());
  open_how how{};
  how.flags = flags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | more_resolve;
  for (int tries = 1;; ++tries) {
    const auto fd = ::syscall(SYS_openat2, folder, path.data(), &how, sizeof how);
    if (fd >= 0 || errno != EAGAIN || tries == most_tries) return static_cast<int>(fd);
  }
}

}  // namespace strata::loop
