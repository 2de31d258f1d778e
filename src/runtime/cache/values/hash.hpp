// The hash of keys, fields and members, and the digest of strings.
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::runtime::cache {

/// Each process has its own seed, so that an attacker cannot construct colliding keys.
[[nodiscard]] std::uint64_t hash_of(std::string_view bytes);
/// The same in each process: XXH3 with 64 bits, as clients of DIGEST compute it.
[[nodiscard]] std::uint64_t digest_of(std::string_view bytes);

}  // namespace strata::runtime::cache
