#include "strata/base/mapping.hpp"

#include <sys/mman.h>

#include <cerrno>

namespace strata {

result<mapping> mapping::make(int fd, std::size_t size, int flags, std::uint64_t offset,
                              const std::string& purpose) {
  void* const memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) {
    return system_failure(
        errno, "map " + std::to_string(size) + " bytes for " + purpose,
        (flags & MAP_HUGETLB) != 0 ? "set huge pages aside in /proc/sys/vm/nr_hugepages" : "");
  }
  mapping made;
  made.bytes_ = {static_cast<std::byte*>(memory), size};
  return made;
}

result<mapping> mapping::of(int fd, std::size_t size, const std::string& purpose,
                            std::uint64_t offset) {
  return make(fd, size, MAP_SHARED, offset, purpose);
}

result<mapping> mapping::anonymous(std::size_t size, bool huge_pages, const std::string& purpose) {
  return make(-1, size, MAP_SHARED | MAP_ANONYMOUS | (huge_pages ? MAP_HUGETLB : 0), 0, purpose);
}

mapping& mapping::operator=(mapping&& other) noexcept {
  if (this != &other) {
    reset();
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

void mapping::reset() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  bytes_ = {};
}

}  // namespace strata
