// The common part of commands on points: coordinates, units and distances in their arguments, and
// points in their replies.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/values/geo_cell.hpp"

namespace strata::runtime::cache {

/// Reads a longitude and a latitude, from word `index` on. Replies with an error and returns
/// nullopt if one is invalid, as do the others.
[[nodiscard]] std::optional<geo_point> read_point(call& c, std::size_t index);
/// Reads a unit, and returns its metres.
[[nodiscard]] std::optional<double> read_unit(call& c, std::size_t index);
/// Reads a radius, in the unit behind it, for the shape.
[[nodiscard]] bool read_radius(call& c, std::size_t index, geo_shape& shape);
/// Reads a width and a height, in the unit behind them, for the shape.
[[nodiscard]] bool read_box(call& c, std::size_t index, geo_shape& shape);

void reply_point(call& c, geo_point point);
void reply_distance(call& c, double distance);

}  // namespace strata::runtime::cache
