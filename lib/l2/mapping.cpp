#include "strata/l2/mapping.hpp"

#include <sys/mman.h>

#include <cerrno>

namespace strata::l2 {

result<mapping> mapping::of(int fd, std::size_t size, const std::string& purpose) {
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    return system_failure(errno, "map " + std::to_string(size) + " bytes for " + purpose);
  }
  mapping made;
  made.bytes_ = {static_cast<std::byte*>(memory), size};
  return made;
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

}  // namespace strata::l2
