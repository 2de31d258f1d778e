#include "strata/base/mapping.hpp"

#include <linux/mman.h>
#include <sys/mman.h>

#include <cerrno>
#include <fstream>

namespace strata {

namespace {

constexpr const char* huge_pages = "/sys/kernel/mm/hugepages/hugepages-2048kB/";

std::size_t huge_page_count(const char* which) {
  std::ifstream text(std::string(huge_pages) + which);
  std::size_t count = 0;
  text >> count;
  return count;
}

error huge_pages_error(int code, std::string operation, std::size_t size) {
  const auto needed = size / mapping::huge_page_size;
  const auto free = mapping::free_huge_pages();
  auto failed = system_error(code, std::move(operation));
  if (free >= needed) return failed;
  failed.reason = "it needs " + std::to_string(needed) + " huge pages of 2 MiB, but only " +
                  std::to_string(free) + " are free";
  failed.remedy = "write " + std::to_string(huge_page_count("nr_hugepages") + needed - free) +
                  " to " + huge_pages + "nr_hugepages, or use normal pages";
  return failed;
}

}  // namespace

result<mapping> mapping::make(int fd, std::size_t size, int flags, std::uint64_t offset,
                              const std::string& purpose) {
  void* const memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) {
    const int code = errno;
    auto operation = "map " + std::to_string(size) + " bytes for " + purpose;
    if ((flags & MAP_HUGETLB) == 0) return system_failure(code, std::move(operation));
    return std::unexpected(huge_pages_error(code, std::move(operation), size));
  }
  mapping made;
  made.bytes_ = {static_cast<std::byte*>(memory), size};
  return made;
}

result<mapping> mapping::of(int fd, std::size_t size, const std::string& purpose,
                            std::uint64_t offset) {
  return make(fd, size, MAP_SHARED, offset, purpose);
}

result<mapping> mapping::anonymous(std::size_t size, bool in_huge_pages,
                                   const std::string& purpose) {
  return make(-1, size,
              MAP_SHARED | MAP_ANONYMOUS | (in_huge_pages ? MAP_HUGETLB | MAP_HUGE_2MB : 0), 0,
              purpose);
}

std::size_t mapping::free_huge_pages() {
  return huge_page_count("free_hugepages") - huge_page_count("resv_hugepages");
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
