// What one exchange by netlink costs: the programs of examples/netlink_exchange/ make the same one,
// each by another library, and take turns.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::measure {

struct exchange_plan {
  std::string folder;  ///< where the programs are
  std::string family;  ///< of a module that speaks kernel/uapi/strata_echo.h; empty: "nlctrl"
  std::uint64_t times = 0;
  std::uint64_t runs = 0;
};

/// The document: for each program that is there its times (of each run's median the median and its
/// interval, and the median of the 99th percentiles, in nanoseconds), how it is linked, and its
/// system calls (null without strace); and what was hoped for beside what came out, by a ratio
/// within each run to the plain C program that is linked alike. `tell` hears what part is done, and
/// what comes next. Errors: not_found when no program is there; and what a program ended with.
[[nodiscard]] result<nlohmann::json> measure_exchanges(
    const exchange_plan& plan,
    const std::function<void(double part, const std::string& next)>& tell);

}  // namespace strata::measure
