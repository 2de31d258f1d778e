// Whether bytes are UTF-8 (RFC 3629), told as they come: at the first byte that cannot be right,
// also when a sequence is cut between two pieces. Overlong forms, surrogates and what lies above
// U+10FFFF are wrong.
#pragma once

#include <cstdint>
#include <string_view>

#include "strata/base/bytes.hpp"

namespace strata::text {

class utf8_checker {
 public:
  /// False when `piece` has a byte that cannot be right behind all before it; the checker is of no
  /// use after that.
  [[nodiscard]] bool feed(byte_span piece);
  /// No sequence has begun that is not whole: the text may end here.
  [[nodiscard]] bool is_whole() const { return missing_ == 0; }

 private:
  [[nodiscard]] bool begin(std::uint8_t first);

  std::uint8_t missing_ = 0;  // bytes of the present sequence still to come
  std::uint8_t low_ = 0;      // what the next of them may be
  std::uint8_t high_ = 0;
};

[[nodiscard]] bool is_utf8(std::string_view text);

/// The longest beginning of `text` of at most `size` bytes that cuts no sequence.
[[nodiscard]] std::string_view utf8_prefix(std::string_view text, std::size_t size);

}  // namespace strata::text
