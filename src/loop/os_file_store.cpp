#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "loop/file_store.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::loop {

namespace {

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

class kernel_files final : public file_store {
 public:
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
    const unique_fd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat found{};
    if (!opened || ::fstat(opened.get(), &found) != 0) {
      return system_failure(errno, "open '" + path + "'");
    }
    if (!S_ISREG(found.st_mode)) {
      return failure(errc::invalid_argument, "open '" + path + "'", "it is not a file");
    }
    const auto size = static_cast<std::size_t>(found.st_size);
    void* memory = nullptr;
    if (size != 0) {
      memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, opened.get(), 0);
      if (memory == MAP_FAILED) return system_failure(errno, "map '" + path + "'");
      ::madvise(memory, size, MADV_SEQUENTIAL);
    }
    return std::make_unique<mapped_view>(memory, size);
  }

  bool exists(const std::string& path) override { return ::access(path.c_str(), F_OK) == 0; }

  result<void> truncate(const std::string& path, std::uint64_t size) override {
    const unique_fd opened(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!opened || ::ftruncate(opened.get(), static_cast<off_t>(size)) != 0 ||
        ::fsync(opened.get()) != 0) {
      return system_failure(errno, "cut '" + path + "' down to " + std::to_string(size) + " bytes");
    }
    return {};
  }

  result<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) {
      return system_failure(errno, "rename '" + from + "' to '" + to + "'");
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

file_store& os_files() {
  static kernel_files only;
  return only;
}

}  // namespace strata::loop
