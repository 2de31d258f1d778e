// The Internet checksum (RFC 1071).
#pragma once

#include <cstdint>

#include "strata/base/bytes.hpp"

namespace strata::wire {

/// Adds the bytes to `sum` as 16-bit numbers in network order (an odd last byte is padded with a
/// zero): parts of even size may be added one by one.
[[nodiscard]] std::uint64_t add_to_sum(byte_span bytes, std::uint64_t sum = 0);

/// Returns the sum folded to 16 bits and complemented, as a header holds it. The checksum of bytes
/// that include a correct checksum is 0.
[[nodiscard]] std::uint16_t finish_sum(std::uint64_t sum);

}  // namespace strata::wire
