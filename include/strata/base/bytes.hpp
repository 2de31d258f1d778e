// Byte spans, and conversions between them and text.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "strata/base/language.hpp"

namespace strata {

using byte_span = std::span<const std::byte>;
using mutable_byte_span = std::span<std::byte>;

/// Views the memory of `text` as bytes; valid as long as that memory is.
[[nodiscard]] inline byte_span as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Views the memory of `bytes` as text; valid as long as that memory is.
[[nodiscard]] inline std::string_view as_text(byte_span bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Copies all of `bytes` to the beginning of `room`, which must be large enough, and returns the
/// rest of `room`. The two may overlap: the bytes may already be in place. GCC 12's
/// std::ranges::copy copies spans of bytes one byte at a time.
inline mutable_byte_span copy_bytes(byte_span bytes, mutable_byte_span room) {
  assert(bytes.size() <= room.size());
  if (!bytes.empty()) std::memmove(room.data(), bytes.data(), bytes.size());
  return room.subspan(bytes.size());
}

}  // namespace strata
