// Byte spans, and the two ways between them and text.
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

/// The same memory, seen as bytes; valid as long as `text`'s memory is.
[[nodiscard]] inline byte_span as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// The same memory, seen as text; valid as long as `bytes`' memory is.
[[nodiscard]] inline std::string_view as_text(byte_span bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Copies all of `bytes` to the beginning of `room`, which has room for it, and gives what of
/// `room` is behind it. They may overlap: what is copied may lie there already. std::ranges::copy
/// takes one byte at a time from a span of bytes, as GCC 12's library has it.
inline mutable_byte_span copy_bytes(byte_span bytes, mutable_byte_span room) {
  assert(bytes.size() <= room.size());
  if (!bytes.empty()) std::memmove(room.data(), bytes.data(), bytes.size());
  return room.subspan(bytes.size());
}

}  // namespace strata
