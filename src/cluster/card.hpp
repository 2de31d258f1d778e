// What a daemon says of itself to the other daemons of its cluster, as a JSON text.
//
// Plain values and pure functions. Cards are written by others, perhaps by strangers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::cluster {

/// A runtime, as other daemons need to know it.
struct runtime_card {
  std::string name;
  std::string type;
  std::string state;
  std::string group = {};
  std::vector<std::string> endpoints = {};  ///< as other machines reach it
  std::vector<std::string> targets = {};    ///< the names and groups that it connects to
  std::map<std::string, std::string> labels = {};
  std::uint64_t connections = 0;
  bool operator==(const runtime_card&) const = default;
};

struct card {
  std::string daemon;
  std::string version = {};
  std::string control = {};  ///< URL of its control API; empty: it is not reached from elsewhere
  bool is_drained = false;   ///< its runtimes are not to be chosen by others
  std::string zone = {};     ///< empty: none
  std::map<std::string, std::string> labels = {};
  std::vector<runtime_card> runtimes = {};
  bool operator==(const card&) const = default;
};

inline constexpr std::size_t longest_card = 1U << 20U;  ///< bytes
inline constexpr std::size_t most_runtimes = 10'000;
inline constexpr std::size_t longest_name = 128;

[[nodiscard]] std::string write_card(const card& card);
/// Errors: malformed, with the reason: no JSON, a member of another type, a name that no daemon
/// has, or beyond the limits above. Unknown members are passed over: newer daemons write them.
[[nodiscard]] result<card> read_card(std::string_view text);

/// Whether a daemon may have this name: letters, digits, '.', '_' and '-', and not too long.
[[nodiscard]] bool is_daemon_name(std::string_view name);
/// Whether a zone may have this name: as that of a daemon, or empty for none.
[[nodiscard]] bool is_zone_name(std::string_view name);

}  // namespace strata::cluster
