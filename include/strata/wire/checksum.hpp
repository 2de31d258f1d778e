// The Internet checksum (RFC 1071).
#pragma once

#include <cstdint>

#include "strata/base/bytes.hpp"

namespace strata::wire {

/// Adds the bytes, as 16-bit numbers in network order (an odd last byte with a zero behind it), to
/// `sum`: pieces of even size may be added one by one.
[[nodiscard]] std::uint64_t add_to_sum(byte_span bytes, std::uint64_t sum = 0);

/// The sum folded to 16 bits and complemented, as it stands in a header. The checksum over bytes
/// that hold a right one is 0.
[[nodiscard]] std::uint16_t finish_sum(std::uint64_t sum);

}  // namespace strata::wire
