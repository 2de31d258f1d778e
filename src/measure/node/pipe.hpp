// A pipe between this process and another.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::measure {

struct pipe_ends {
  unique_fd read;
  unique_fd write;
};

/// Both ends are closed in programs that are started, unless they are handed over.
[[nodiscard]] inline result<pipe_ends> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure(errno, "make a pipe");
  return pipe_ends{unique_fd(ends[0]), unique_fd(ends[1])};
}

}  // namespace strata::measure
