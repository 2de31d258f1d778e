// Bytes of a file, read into memory that an answer can share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loop/loop.hpp"
#include "loop/slice.hpp"

namespace strata::http {

/// Of a file, at a time.
inline constexpr std::uint32_t file_piece_size = 64U << 10U;

/// Reads `count` bytes from `offset` on. False when the file ends before, or cannot be read.
[[nodiscard]] bool read_exactly(int fd, std::uint64_t offset, std::byte* room, std::size_t count);

/// All of `part`, which is no longer than 4 GiB; empty when `read_exactly` says false.
[[nodiscard]] loop::slice read_piece(const loop::file_part& part);

}  // namespace strata::http
