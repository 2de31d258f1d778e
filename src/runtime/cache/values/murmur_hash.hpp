// MurmurHash64A, the hash by which HyperLogLogs assign elements to registers: it must give the same
// values in every process.
//
// Source: A. Appleby, MurmurHash2 (public domain), the variant for 64-bit machines; words are least
// significant byte first.
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::runtime::cache {

[[nodiscard]] constexpr std::uint64_t murmur_hash(std::string_view bytes, std::uint64_t seed) {
  constexpr std::uint64_t factor = 0xc6a4a7935bd1e995;
  constexpr unsigned shift = 47;
  const auto word_at = [&](std::size_t offset, std::size_t size) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < size; ++i) {
      word |= std::uint64_t{static_cast<unsigned char>(bytes[offset + i])} << 8 * i;
    }
    return word;
  };
  auto hash = seed ^ bytes.size() * factor;
  std::size_t offset = 0;
  for (; offset + 8 <= bytes.size(); offset += 8) {
    auto word = word_at(offset, 8) * factor;
    word ^= word >> shift;
    hash = (hash ^ word * factor) * factor;
  }
  if (offset != bytes.size()) hash = (hash ^ word_at(offset, bytes.size() - offset)) * factor;
  hash ^= hash >> shift;
  hash *= factor;
  return hash ^ hash >> shift;
}

}  // namespace strata::runtime::cache
