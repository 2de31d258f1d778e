// Numbers that look random, but are determined by their input.
#pragma once

#include <cstdint>

namespace strata::runtime::proxy {

/// The finalizer of MurmurHash3: a bijection.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t of) {
  of ^= of >> 33U;
  of *= 0xff51afd7ed558ccdULL;
  of ^= of >> 33U;
  of *= 0xc4ceb9fe1a85ec53ULL;
  return of ^ (of >> 33U);
}

}  // namespace strata::runtime::proxy
