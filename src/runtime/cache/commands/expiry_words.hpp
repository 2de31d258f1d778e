// How commands say when a key is to expire: EX 10, PXAT 1700000000000, and their like.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace strata::runtime::cache {

class call;
class entry;

struct expiry_word {
  bool is_ms;
  bool is_absolute;
};

/// EX, PX, EXAT or PXAT; null for another word.
[[nodiscard]] const expiry_word* find_expiry_word(std::string_view word);

/// The word as a time, in milliseconds since 1970. Nothing, and the error replied, when it is no
/// integer, not positive, or too large.
[[nodiscard]] std::optional<std::int64_t> parse_expiry(call& c, std::size_t index,
                                                       expiry_word unit);

/// Lets the key at word `index` expire at that time; at once, if it has passed.
void expire_at(call& c, std::size_t index, entry* entry, std::int64_t at_ms);

}  // namespace strata::runtime::cache
