#include "runtime/cache/values/geo_cell.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace strata::runtime::cache {

namespace {

constexpr double earth_radius = 6372797.560856;
constexpr double radians_in_degree = std::numbers::pi / 180.0;
// Half of the equator's length in the Mercator projection, in metres.
constexpr double mercator_most = 20037726.37;

double in_radians(double degrees) { return degrees * radians_in_degree; }
double in_degrees(double radians) { return radians / radians_in_degree; }

// --- numbers of cells

constexpr std::uint64_t row_bits = 0x5555555555555555;
constexpr std::uint64_t column_bits = row_bits << 1U;

// Moves bit N to bit 2 N.
std::uint64_t spread(std::uint32_t value) {
  std::uint64_t bits = value;
  bits = (bits | bits << 16U) & 0x0000FFFF0000FFFF;
  bits = (bits | bits << 8U) & 0x00FF00FF00FF00FF;
  bits = (bits | bits << 4U) & 0x0F0F0F0F0F0F0F0F;
  bits = (bits | bits << 2U) & 0x3333333333333333;
  return (bits | bits << 1U) & row_bits;
}

// Moves bit 2 N to bit N.
std::uint32_t gather(std::uint64_t bits) {
  bits &= row_bits;
  bits = (bits | bits >> 1U) & 0x3333333333333333;
  bits = (bits | bits >> 2U) & 0x0F0F0F0F0F0F0F0F;
  bits = (bits | bits >> 4U) & 0x00FF00FF00FF00FF;
  bits = (bits | bits >> 8U) & 0x0000FFFF0000FFFF;
  return static_cast<std::uint32_t>(bits | bits >> 16U);
}

std::uint64_t cells_in_row(unsigned depth) { return std::uint64_t{1} << depth; }

// The index of a coordinate's row or column. The greatest coordinate is beyond the last one.
std::uint32_t index_of(double value, geo_interval interval, unsigned depth) {
  const auto share = (value - interval.least) / (interval.most - interval.least);
  return static_cast<std::uint32_t>(share * static_cast<double>(cells_in_row(depth)));
}

// --- areas of cells

struct geo_area {
  geo_interval longitude;
  geo_interval latitude;
};

// The index may be beyond the last, and wraps, for scores that are not of points.
geo_interval interval_of(std::uint32_t index, geo_interval whole, unsigned depth) {
  // Of a power of two, so the product is exactly the quotient.
  const auto share_of_cell = 1 / static_cast<double>(cells_in_row(depth));
  const auto coordinate = [&](std::uint32_t edge) {
    const auto share = static_cast<double>(edge) * share_of_cell;
    return whole.least + share * (whole.most - whole.least);
  };
  return {coordinate(index), coordinate(index + 1)};
}

geo_area area_of(geo_cell cell) {
  return {interval_of(gather(cell.number >> 1U), longitudes, cell.depth),
          interval_of(gather(cell.number), latitudes, cell.depth)};
}

constexpr double integer_limit = 9223372036854775808.0;  // 2^63

// Redis converts scores as its processors do, also those that are out of range.
std::uint64_t cell_number_of(double score) {
  if (!(score >= integer_limit)) return static_cast<std::uint64_t>(truncate(score));
  return static_cast<std::uint64_t>(truncate(score - integer_limit)) ^ std::uint64_t{1} << 63U;
}

// Returns the cell that many columns to the east and rows to the north; the grid wraps.
geo_cell beside(geo_cell cell, int columns, int rows) {
  const auto mask = ~std::uint64_t{0} >> (64 - cell.depth * 2);
  const auto move = [&](std::uint64_t own_bits, int steps) {
    const auto own = cell.number & own_bits;
    const auto others = ~own_bits & mask;
    if (steps == 0) return own;
    // A carry passes over the other coordinate's bits if they are set, and so does a borrow if they
    // are clear, after the lowest one has been added.
    const auto moved = steps > 0 ? own + (others + 1) : (own | others) - (others + 1);
    return moved & own_bits & mask;
  };
  return {move(column_bits, columns) | move(row_bits, rows), cell.depth};
}

// Reports whether the difference of latitudes alone is more than a distance in metres; much cheaper
// than the distance. The margins are those of the distance's rounding.
bool are_rows_farther_than(double metres, geo_point first, geo_point second) {
  const auto rows = earth_radius * in_radians(std::abs(second.latitude - first.latitude));
  return rows > metres * (1 + 1e-9) + 1e-3;
}

// --- the cells of a search

// The directions around a cell, in the order of a search.
struct direction {
  int columns;
  int rows;
};
constexpr std::array<direction, 9> directions = {
    {{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}};

// Returns a depth at which nine cells cover the distance around the point, in most cases.
unsigned depth_for(double metres, double latitude) {
  if (metres == 0) return geo_cell::max_depth;
  int depth = 1;
  while (metres < mercator_most) {
    metres *= 2;
    ++depth;
  }
  depth -= 2;
  // Cells are narrower near the poles.
  if (std::abs(latitude) > 66) --depth;
  if (std::abs(latitude) > 80) --depth;
  return static_cast<unsigned>(std::clamp(depth, 1, static_cast<int>(geo_cell::max_depth)));
}

geo_area bounds_of(const geo_shape& shape) {
  const auto [longitude, latitude] = shape.centre;
  const auto height = shape.unit * (shape.is_box ? shape.height / 2 : shape.radius);
  const auto width = shape.unit * (shape.is_box ? shape.width / 2 : shape.radius);
  const auto rows = in_degrees(height / earth_radius);
  // The edge that is nearer to a pole spans more degrees.
  const auto widest = latitude < 0 ? latitude - rows : latitude + rows;
  const auto columns = in_degrees(width / earth_radius / std::cos(in_radians(widest)));
  return {{longitude - columns, longitude + columns}, {latitude - rows, latitude + rows}};
}

bool are_cells_enough(geo_cell cell, const geo_area& bounds) {
  return !(area_of(beside(cell, 0, 1)).latitude.most < bounds.latitude.most ||
           area_of(beside(cell, 0, -1)).latitude.least > bounds.latitude.least ||
           area_of(beside(cell, 1, 0)).longitude.most < bounds.longitude.most ||
           area_of(beside(cell, -1, 0)).longitude.least > bounds.longitude.least);
}

}  // namespace

geo_cell cell_of(geo_point point, unsigned depth, geo_interval rows) {
  const auto row = index_of(point.latitude, rows, depth);
  const auto column = index_of(point.longitude, longitudes, depth);
  return {spread(row) | spread(column) << 1U, depth};
}

geo_point point_of_score(double score) {
  const auto area = area_of({cell_number_of(score)});
  const auto centre = [](geo_interval part, geo_interval whole) {
    return std::clamp((part.least + part.most) / 2, whole.least, whole.most);
  };
  return {centre(area.longitude, longitudes), centre(area.latitude, latitudes)};
}

std::int64_t truncate(double value) {
  return value >= -integer_limit && value < integer_limit ? static_cast<std::int64_t>(value)
                                                          : INT64_MIN;
}

geo_interval scores_of(geo_cell cell) {
  const auto shift = 2 * (geo_cell::max_depth - cell.depth);
  return {static_cast<double>(cell.number << shift),
          static_cast<double>((cell.number + 1) << shift)};
}

double distance_between(geo_point first, geo_point second) {
  const auto first_latitude = in_radians(first.latitude);
  const auto second_latitude = in_radians(second.latitude);
  const auto across = std::sin((in_radians(second.longitude) - in_radians(first.longitude)) / 2);
  // On a meridian, as in Redis, which so saves time, and gives other last bits.
  if (across == 0) return earth_radius * std::abs(second_latitude - first_latitude);
  const auto along = std::sin((second_latitude - first_latitude) / 2);
  const auto haversine =
      along * along + std::cos(first_latitude) * std::cos(second_latitude) * across * across;
  return 2.0 * earth_radius * std::asin(std::sqrt(haversine));
}

std::optional<double> geo_shape::distance_of(geo_point point) const {
  if (is_box) {
    const geo_point corner = {centre.longitude, point.latitude};
    if (distance_between(corner, centre) > height * unit / 2) return {};
    if (distance_between(point, corner) > width * unit / 2) return {};
  } else if (are_rows_farther_than(radius * unit, centre, point)) {
    return {};
  }
  const auto distance = distance_between(centre, point);
  if (!is_box && distance > radius * unit) return {};
  return distance;
}

std::array<std::optional<geo_cell>, 9> cells_covering(const geo_shape& shape) {
  const auto bounds = bounds_of(shape);
  const auto half_width = shape.width / 2;
  const auto half_height = shape.height / 2;
  const auto reach =
      shape.is_box ? std::sqrt(half_width * half_width + half_height * half_height) : shape.radius;
  auto depth = depth_for(reach * shape.unit, shape.centre.latitude);
  if (depth > 1 && !are_cells_enough(cell_of(shape.centre, depth), bounds)) --depth;
  const auto middle = cell_of(shape.centre, depth);
  const auto area = area_of(middle);
  std::array<std::optional<geo_cell>, 9> cells;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto [columns, rows] = directions[i];
    // At depth 1, all cells are needed.
    const bool is_outside =
        depth >= 2 && ((rows < 0 && area.latitude.least < bounds.latitude.least) ||
                       (rows > 0 && area.latitude.most > bounds.latitude.most) ||
                       (columns < 0 && area.longitude.least < bounds.longitude.least) ||
                       (columns > 0 && area.longitude.most > bounds.longitude.most));
    const auto cell = beside(middle, columns, rows);
    if (!is_outside) cells[i] = cell;
  }
  return cells;
}

}  // namespace strata::runtime::cache
