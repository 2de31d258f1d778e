// String values as bytes that commands modify in place.
#pragma once

#include <cstddef>
#include <string_view>

namespace strata::runtime::cache {

class call;
class entry;

inline constexpr std::string_view too_long_error =
    "ERR string exceeds maximum allowed size (proto-max-bulk-len)";

/// Extends the string at word 1, which may be new (`found` null), to at least `size` bytes with
/// zeros, and returns its bytes. Sets `found` to its entry.
[[nodiscard]] char* widen(call& c, entry*& found, std::size_t size);

}  // namespace strata::runtime::cache
