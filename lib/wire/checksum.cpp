#include "strata/wire/checksum.hpp"

#include "strata/wire/big_endian.hpp"

namespace strata::wire {

std::uint64_t add_to_sum(byte_span bytes, std::uint64_t sum) {
  while (bytes.size() >= 2) {
    sum += read_u16(bytes.first<2>());
    bytes = bytes.subspan(2);
  }
  if (!bytes.empty()) sum += std::to_integer<std::uint64_t>(bytes[0]) << 8U;
  return sum;
}

std::uint16_t finish_sum(std::uint64_t sum) {
  while (sum > 0xFFFF) sum = (sum & 0xFFFFU) + (sum >> 16U);
  return static_cast<std::uint16_t>(~sum & 0xFFFFU);
}

}  // namespace strata::wire
