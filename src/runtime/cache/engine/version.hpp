// The version of Redis with whose commands and replies the cache is compatible; clients ask for it.
#pragma once

#include <string_view>

namespace strata::runtime::cache {

inline constexpr std::string_view compatible_version = "7.0.15";

}  // namespace strata::runtime::cache
