// Bytes as a person reads them.
#pragma once

#include <string>

#include "strata/base/bytes.hpp"

namespace strata::cli {

/// Offsets, hexadecimal and letters, 16 bytes a line.
[[nodiscard]] std::string hex_dump(byte_span bytes);

}  // namespace strata::cli
