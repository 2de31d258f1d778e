// Where the members of a group listen, for one who needs a single connection to any of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "net/endpoint_url.hpp"
#include "strata/base/result.hpp"

namespace strata::daemon {

/// Returns the endpoints of the members one after another, from that on whose turn it is.
[[nodiscard]] inline std::vector<net::endpoint_url> in_turn(
    std::vector<std::vector<net::endpoint_url>> members, std::size_t turn) {
  std::vector<net::endpoint_url> all;
  for (std::size_t at = 0; at < members.size(); ++at) {
    std::ranges::move(members[(turn + at) % members.size()], std::back_inserter(all));
  }
  return all;
}

/// The error for a place `@GROUP` whose group has no member that runs and listens.
[[nodiscard]] inline std::unexpected<error> no_member(const std::string& place) {
  return failure(errc::not_found, "connect to a member of the group '" + place.substr(1) + "'",
                 "none runs and listens",
                 "start one; 'strata ls --filter group=" + place.substr(1) + "' lists them");
}

}  // namespace strata::daemon
