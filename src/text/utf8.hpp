// Checks incrementally whether bytes are UTF-8 (RFC 3629): fails at the first byte that is invalid,
// also if a sequence is split between two pieces. Overlong forms, surrogates and code points above
// U+10FFFF are invalid.
#pragma once

#include <cstdint>
#include <string_view>

#include "strata/base/bytes.hpp"

namespace strata::text {

class utf8_checker {
 public:
  /// Returns false if `piece` has a byte that is invalid after all bytes before it; the checker
  /// must not be used after that.
  [[nodiscard]] bool feed(byte_span piece);
  /// Reports whether no sequence is incomplete: the text may end here.
  [[nodiscard]] bool is_whole() const { return missing_ == 0; }

 private:
  [[nodiscard]] bool begin(std::uint8_t first);

  std::uint8_t missing_ = 0;  // remaining bytes of the current sequence
  std::uint8_t low_ = 0;      // range of the next byte
  std::uint8_t high_ = 0;
};

[[nodiscard]] bool is_utf8(std::string_view text);

/// Returns the longest prefix of `text` of at most `size` bytes that splits no sequence.
[[nodiscard]] std::string_view utf8_prefix(std::string_view text, std::size_t size);

}  // namespace strata::text
