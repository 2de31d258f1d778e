#include "http/file_piece.hpp"

#include <unistd.h>

#include <cerrno>

namespace strata::http {

bool read_exactly(int fd, std::uint64_t offset, std::byte* room, std::size_t count) {
  while (count != 0) {
    const auto got = ::pread(fd, room, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    room += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

loop::slice read_piece(const loop::file_part& part) {
  const auto count = static_cast<std::uint32_t>(part.count);
  auto* const memory = loop::chunk::make(count);
  loop::slice piece;
  if (read_exactly(part.fd, part.offset, memory->tail(), count)) {
    memory->take(count);
    piece = loop::slice(*memory, 0, count);
  }
  memory->release();
  return piece;
}

}  // namespace strata::http
