// Bytes of a file, read into memory that an answer can share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loop/loop.hpp"
#include "loop/slice.hpp"

namespace strata::http {

/// Bytes of a file that are read at a time.
inline constexpr std::uint32_t file_piece_size = 64U << 10U;

/// Reads `count` bytes from `offset` on. Returns false if the file ends earlier or cannot be read.
[[nodiscard]] bool read_exactly(int fd, std::uint64_t offset, std::byte* room, std::size_t count);

/// Reads all of `part`, which is at most 4 GiB long; empty if `read_exactly` fails.
[[nodiscard]] loop::slice read_piece(const loop::file_part& part);

}  // namespace strata::http
