// A pipe between this process and another.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::process {

struct pipe_ends {
  unique_fd read;
  unique_fd write;
};

/// Started programs inherit neither end, unless it is passed to them.
[[nodiscard]] inline result<pipe_ends> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure(errno, "create a pipe");
  return pipe_ends{unique_fd(ends[0]), unique_fd(ends[1])};
}

/// Reads until the other end closes or fails.
[[nodiscard]] inline std::string read_all(int pipe) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const auto size = ::read(pipe, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
}

/// Writes all of `text`. Returns false if the other end is closed.
inline bool write_all(int pipe, std::string_view text) {
  while (!text.empty()) {
    const auto size = ::write(pipe, text.data(), text.size());
    if (size < 0 && errno != EINTR) return false;
    if (size > 0) text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

}  // namespace strata::process
