// Sole owner of mapped memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"

namespace strata {

class mapping {
 public:
  mapping() = default;
  /// Maps `size` bytes of `fd` from `offset` on, shared, for reading and writing. `purpose` is for
  /// the error.
  [[nodiscard]] static result<mapping> of(int fd, std::size_t size, const std::string& purpose,
                                          std::uint64_t offset = 0);
  /// Allocates zeroed memory shared by this process and its forks: all see the writes of each, and
  /// of a device. Uses pages of the usual size, or huge pages, which the administrator reserves
  /// (/proc/sys/vm/nr_hugepages); `size` must then be a multiple of their size. Errors:
  /// limit_exceeded if too few huge pages are free.
  [[nodiscard]] static result<mapping> anonymous(std::size_t size, bool in_huge_pages,
                                                 const std::string& purpose);
  static constexpr std::size_t huge_page_size = std::size_t{2} << 20U;
  /// Returns the number of huge pages that are neither in use nor reserved.
  [[nodiscard]] static std::size_t free_huge_pages();
  mapping(mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  mapping& operator=(mapping&& other) noexcept;
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  ~mapping() { reset(); }

  [[nodiscard]] mutable_byte_span bytes() const { return bytes_; }

 private:
  [[nodiscard]] static result<mapping> make(int fd, std::size_t size, int flags,
                                            std::uint64_t offset, const std::string& purpose);
  void reset();
  mutable_byte_span bytes_;
};

}  // namespace strata
