// The roles of an end in a measurement.
#pragma once

#include <atomic>

#include "measure/ends/end.hpp"
#include "measure/node/foreign_traffic.hpp"
#include "measure/node/order.hpp"

namespace strata::measure {

/// A stop request, in memory shared by both sides.
using stop_flag = std::atomic<bool>;

/// Sends or pings for the order's time, or receives or echoes until it is asked to stop, on this
/// thread. `traffic` may be null. An error ends it, and is recorded in the result.
[[nodiscard]] end_result play(const order& order, const end& end, foreign_traffic* traffic,
                              const stop_flag& stop);

}  // namespace strata::measure
