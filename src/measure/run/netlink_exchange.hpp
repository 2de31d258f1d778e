// The cost of one netlink exchange: the programs of examples/netlink_exchange/ make the same
// exchange, each with another library, and alternate.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::measure {

struct exchange_plan {
  std::string folder;  ///< of the programs
  std::string family;  ///< of a module that implements kernel/uapi/strata_echo.h; empty: "nlctrl"
  std::uint64_t times = 0;
  std::uint64_t runs = 0;
};

/// Returns the document: for each existing program its times (in nanoseconds: the median of the
/// runs' medians with its interval, and the median of the 99th percentiles), how it is linked, and
/// its system calls (null without strace); and the goals beside the results, as a ratio within each
/// run to the plain C program that is linked in the same way. `report` receives the completed part,
/// and the next step. Errors: not_found if no program exists; and the error with which a program
/// ended.
[[nodiscard]] result<nlohmann::json> measure_exchanges(
    const exchange_plan& plan,
    const std::function<void(double part, const std::string& next)>& report);

}  // namespace strata::measure
