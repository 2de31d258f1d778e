#include "runtime/cache/values/hash.hpp"

#define XXH_INLINE_ALL
#include <sys/random.h>
#include <xxhash.h>

#include <cstdlib>

namespace strata::runtime::cache {

namespace {

// Random, so that an attacker cannot know which keys share a bucket. The kernel always provides so
// few bytes.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): getrandom throws nothing.
const std::uint64_t seed = []() noexcept {
  std::uint64_t made = 0;
  if (::getrandom(&made, sizeof made, 0) != sizeof made) std::abort();
  return made;
}();

}  // namespace

std::uint64_t hash_of(std::string_view bytes) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t digest_of(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace strata::runtime::cache
