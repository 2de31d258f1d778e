// A pseudo-terminal (pty(7)): a terminal for another program, whose other side is in this process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::process {

struct terminal_size {
  std::uint16_t rows = 24;
  std::uint16_t columns = 80;
};

struct pseudo_terminal {
  unique_fd side;    ///< this process' side; reads and writes do not wait
  std::string path;  ///< of the terminal
};

/// Opens one that belongs to `user`. Errors: those of the system, such as too many of them.
[[nodiscard]] result<pseudo_terminal> open_pseudo_terminal(uid_t user, terminal_size size);

/// Changes the size; the program in the foreground gets SIGWINCH.
void resize(int side, terminal_size size);

}  // namespace strata::process
