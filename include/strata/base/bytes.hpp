// Byte spans, and the two ways between them and text.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace strata {

using byte_span = std::span<const std::byte>;
using mutable_byte_span = std::span<std::byte>;

/// The same memory, seen as bytes; valid as long as `text`'s memory is.
[[nodiscard]] inline byte_span as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The same memory, seen as text; valid as long as `bytes`' memory is.
[[nodiscard]] inline std::string_view as_text(byte_span bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace strata
