// The version of Redis with whose commands and replies the cache is compatible; clients ask for it.
#pragma once

#include <string_view>

namespace strata::runtime::cache {

inline constexpr std::string_view compatible_version = "7.0.15";
/// The same, a byte each.
inline constexpr unsigned compatible_version_number = 0x0007000f;

}  // namespace strata::runtime::cache
