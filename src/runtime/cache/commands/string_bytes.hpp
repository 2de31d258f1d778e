// A string value as bytes that commands change in place.
#pragma once

#include <cstddef>
#include <string_view>

namespace strata::runtime::cache {

class call;
class entry;

inline constexpr std::string_view too_long_error =
    "ERR string exceeds maximum allowed size (proto-max-bulk-len)";

/// Makes the string at word 1, which may be new (`found` null), at least `size` bytes long, with
/// zeros where it had none, and says where they are. `found` is then its entry.
[[nodiscard]] char* widen(call& c, entry*& found, std::size_t size);

}  // namespace strata::runtime::cache
