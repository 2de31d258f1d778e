// Sole owner of mapped memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"

namespace strata::l2 {

class mapping {
 public:
  mapping() = default;
  /// Maps the first `size` bytes of `fd`, shared, to read and to write. `purpose` is for the error.
  [[nodiscard]] static result<mapping> of(int fd, std::size_t size, const std::string& purpose);
  mapping(mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  mapping& operator=(mapping&& other) noexcept;
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  ~mapping() { reset(); }

  [[nodiscard]] mutable_byte_span bytes() const { return bytes_; }

 private:
  void reset();
  mutable_byte_span bytes_;
};

}  // namespace strata::l2
