// The text of a small file that is already open and checked.
#pragma once

#include <cstddef>
#include <string>

#include "strata/base/result.hpp"

namespace strata::options {

/// Reads from the position of `fd`, at most `size` bytes: a caller with a limit asks for one byte
/// more. Blocks if the file does. Errors: those of the system, with `operation`.
[[nodiscard]] result<std::string> read_text(int fd, std::size_t size, const std::string& operation);

}  // namespace strata::options
