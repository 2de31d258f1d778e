// Cells of points. Integration tests compare scores, distances and searches with those of a
// redis-server.
#include "runtime/cache/values/geo_cell.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace strata::runtime::cache {
namespace {

TEST(geo_cell, every_score_names_a_point_on_the_grid) {
  constexpr auto infinity = std::numeric_limits<double>::infinity();
  for (const double score : {0.0, -0.0, 1.5, -1.0, 0x1p52, 0x1p53, 0x1p63, 0x1p64, -0x1p63, 1e300,
                             -1e300, infinity, -infinity, std::nan("")}) {
    EXPECT_TRUE(is_on_grid(point_of_score(score))) << score;
  }
}

TEST(geo_cell, the_centre_of_a_cell_is_in_it) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 10'000; ++i) {
    const auto number = random() >> 12U;
    EXPECT_EQ(cell_of(point_of_score(static_cast<double>(number))).number, number);
  }
}

TEST(geo_cell, a_cell_has_the_scores_of_its_points) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (unsigned depth = 1; depth <= geo_cell::max_depth; ++depth) {
    const auto number = static_cast<double>(random() >> 12U);
    const auto scores = scores_of(cell_of(point_of_score(number), depth));
    EXPECT_LE(scores.least, number);
    EXPECT_LT(number, scores.most);
    EXPECT_EQ(scores.most - scores.least, std::exp2(2 * (geo_cell::max_depth - depth)));
  }
}

TEST(geo_cell, a_search_of_everything_covers_the_grid) {
  geo_shape shape;
  shape.radius = std::numeric_limits<double>::infinity();
  double covered = 0;
  std::optional<geo_cell> last;
  for (const auto& each : cells_covering(shape)) {
    if (!each || each == last) continue;
    const auto scores = scores_of(*each);
    covered += scores.most - scores.least;
    last = each;
  }
  EXPECT_EQ(covered, 0x1p52);
}

TEST(geo_cell, a_circle_contains_points_by_their_distance_alone) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const auto any_point = [&] { return point_of_score(static_cast<double>(random() >> 12U)); };
  for (int i = 0; i < 20'000; ++i) {
    const auto centre = any_point();
    auto point = any_point();
    // On a meridian, and next to each other, rounding matters most.
    if (i % 3 == 0) point.longitude = centre.longitude;
    if (i % 3 == 1) point.latitude = centre.latitude + 1e-9;
    const auto distance = distance_between(centre, point);
    for (const double radius : {distance, std::nextafter(distance, 0.0), distance * 0.9, 0.0}) {
      const geo_shape shape = {.centre = centre, .radius = radius};
      const auto found = shape.distance_of(point);
      ASSERT_EQ(found.has_value(), distance <= radius) << distance << " of " << radius;
      if (found) {
        ASSERT_EQ(*found, distance);
      }
    }
  }
}

}  // namespace
}  // namespace strata::runtime::cache
