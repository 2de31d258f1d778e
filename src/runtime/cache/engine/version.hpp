// The versions of Redis with whose commands and replies a cache can be compatible.
//
// By default a cache reports the version whose replies it repeats, and knows the commands of later
// versions too: a client that looks at the version finds what it expects, and a client that sends a
// later command is served. The option --redis-version chooses one version for both.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace strata::runtime::cache {

/// The version in snapshots, whose format is that of this version.
inline constexpr std::string_view compatible_version = "7.0.15";

// Versions as numbers: 100 times the major version, and the minor version.
inline constexpr unsigned version_7_0 = 700;
inline constexpr unsigned version_7_2 = 702;
inline constexpr unsigned version_7_4 = 704;
inline constexpr unsigned version_8_0 = 800;
inline constexpr unsigned version_8_2 = 802;
inline constexpr unsigned version_8_4 = 804;
inline constexpr unsigned version_newest = 9999;

struct redis_version {
  std::string_view name;      ///< the option's value
  unsigned newest;            ///< commands of later versions are unknown
  std::string_view reported;  ///< in HELLO and INFO
  unsigned number;            ///< the reported version, a byte each
};

inline constexpr std::array<redis_version, 7> redis_versions = {{
    {"all", version_newest, compatible_version, 0x0007000f},
    {"7.0", version_7_0, compatible_version, 0x0007000f},
    {"7.2", version_7_2, "7.2.0", 0x00070200},
    {"7.4", version_7_4, "7.4.0", 0x00070400},
    {"8.0", version_8_0, "8.0.0", 0x00080000},
    {"8.2", version_8_2, "8.2.0", 0x00080200},
    {"8.4", version_8_4, "8.4.0", 0x00080400},
}};

/// Returns the version with that name, or the first: the option's parser checks the names.
[[nodiscard]] constexpr const redis_version& find_version(std::string_view name) {
  for (const auto& each : redis_versions) {
    if (each.name == name) return each;
  }
  return redis_versions.front();
}

}  // namespace strata::runtime::cache
