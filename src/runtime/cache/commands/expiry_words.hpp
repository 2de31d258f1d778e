// Options of commands for a key's expiry: EX 10, PXAT 1700000000000 and so on.
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

/// Finds EX, PX, EXAT or PXAT; null for another word.
[[nodiscard]] const expiry_word* find_expiry_word(std::string_view word);

/// Parses the word as a time, in milliseconds since 1970. Replies with an error and returns nullopt
/// if it is not an integer, not positive, or too large.
[[nodiscard]] std::optional<std::int64_t> parse_expiry(call& c, std::size_t index,
                                                       expiry_word unit);

/// Sets the expiry of the key at word `index`; a time that has passed removes the key at once.
void expire_at(call& c, std::size_t index, entry* entry, std::int64_t at_ms);

}  // namespace strata::runtime::cache
