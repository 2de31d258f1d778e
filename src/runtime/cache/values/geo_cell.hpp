// Points on the earth, and the cells of a grid in which sorted sets keep them: the score of a
// member is the number of its cell.
//
// A cell of depth N is a rectangle, one of 2^N by 2^N. Its number interleaves the bits of its
// column and its row, a column's bit before a row's, so that the cells inside a larger one have
// consecutive numbers. Points are kept with depth 26, in 52 bits: a double represents them exactly.
//
// Source: `redis-server` 7.0, whose scores, distances and sets of cells these are, to the last bit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace strata::runtime::cache {

/// In degrees.
struct geo_point {
  double longitude = 0;
  double latitude = 0;
};

/// The least and greatest value of a coordinate, in degrees.
struct geo_interval {
  double least;
  double most;
};
inline constexpr geo_interval longitudes = {-180, 180};
/// Those of the Mercator projection, which has no poles.
inline constexpr geo_interval latitudes = {-85.05112878, 85.05112878};
/// Those of geohashes as others use them.
inline constexpr geo_interval geohash_latitudes = {-90, 90};

[[nodiscard]] inline bool is_on_grid(geo_point point) {
  return point.longitude >= longitudes.least && point.longitude <= longitudes.most &&
         point.latitude >= latitudes.least && point.latitude <= latitudes.most;
}

struct geo_cell {
  static constexpr unsigned max_depth = 26;

  std::uint64_t number = 0;
  unsigned depth = max_depth;

  bool operator==(const geo_cell&) const = default;
};

/// Returns the cell of a point, which must be on the grid.
[[nodiscard]] geo_cell cell_of(geo_point point, unsigned depth = geo_cell::max_depth,
                               geo_interval rows = latitudes);
/// Returns the centre of the cell that a score names. Any score names one.
[[nodiscard]] geo_point point_of_score(double score);
/// Returns a number as an integer, as Redis's processors convert it: the least one if it is out of
/// range.
[[nodiscard]] std::int64_t truncate(double value);
/// Returns the scores of the cell's points: at least the first number, and less than the second.
[[nodiscard]] geo_interval scores_of(geo_cell cell);

/// Returns the distance in metres, on a sphere.
[[nodiscard]] double distance_between(geo_point first, geo_point second);

/// The area of a search: a circle, or a rectangle of which `width` and `height` are the full sides.
struct geo_shape {
  geo_point centre;
  bool is_box = false;
  double radius = 0;
  double width = 0;
  double height = 0;
  double unit = 1;  ///< metres in a unit of the lengths

  /// Returns the distance of a point from the centre, in metres; nullopt if it is outside.
  [[nodiscard]] std::optional<double> distance_of(geo_point point) const;
};

/// Returns the cells that cover the shape: that of its centre, then those around it. They may
/// overlap; a place is empty if its cell is not needed.
[[nodiscard]] std::array<std::optional<geo_cell>, 9> cells_covering(const geo_shape& shape);

}  // namespace strata::runtime::cache
