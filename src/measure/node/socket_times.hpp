// Measures how long sockets take to open and to close.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "strata/base/result.hpp"

namespace strata::measure {

/// Returns a list of `{name, title, open_us: [...], close_us: [...]}`, with one value per
/// repetition, alternating between the kinds. `address` is an IPv4 address of this machine.
[[nodiscard]] result<nlohmann::json> time_sockets(const std::string& link,
                                                  const std::string& address,
                                                  std::size_t repetitions);

}  // namespace strata::measure
