// Parses the offset of a bit for SETBIT and BITFIELD.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace strata::runtime::cache {

class call;

/// Parses the word as an offset in bits; with a `width`, "#3" is the third after the first of that
/// width. Replies with an error and returns nullopt if it is none, or beyond the longest string.
[[nodiscard]] std::optional<std::uint64_t> parse_bit_offset(call& c, std::size_t index,
                                                            unsigned width = 0);

}  // namespace strata::runtime::cache
