// The text of a small file that has been opened and checked.
#pragma once

#include <cstddef>
#include <string>

#include "strata/base/result.hpp"

namespace strata::options {

/// What `fd` has from its position on, `size` bytes at most: a caller with a limit asks for one
/// byte more. Waits where the file does. Errors: of the system, with `operation`.
[[nodiscard]] result<std::string> read_text(int fd, std::size_t size, const std::string& operation);

}  // namespace strata::options
