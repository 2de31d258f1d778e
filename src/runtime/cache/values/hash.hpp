// The hash of keys, fields and members.
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::runtime::cache {

/// Each process has its own seed, so that an attacker cannot construct colliding keys.
[[nodiscard]] std::uint64_t hash_of(std::string_view bytes);

}  // namespace strata::runtime::cache
