#include "runtime/cache/hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <random>

namespace strata::runtime {

namespace {

const std::uint64_t seed = [] {
  std::random_device source;
  return std::uint64_t{source()} << 32U | source();
}();

}  // namespace

std::uint64_t hash_of(std::string_view bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace strata::runtime
