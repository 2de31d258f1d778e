#include "measure/report/plot.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "measure/report/table.hpp"

namespace strata::measure {
namespace {

std::size_t count(const std::string& in, const std::string& what) {
  std::size_t found = 0;
  for (auto at = in.find(what); at != std::string::npos; at = in.find(what, at + 1)) ++found;
  return found;
}

plot two_lines() {
  return {.title = "Round trip",
          .unit = "us",
          .lines = {{"udp", {{50, 4}, {1500, 5}, {8000, 9}}}, {"raw", {{50, 2}, {1500, 3}}}}};
}

TEST(paths_plot, has_a_point_for_each_value_and_a_legend) {
  const auto drawn = draw(two_lines());
  EXPECT_TRUE(drawn.starts_with("<svg "));
  EXPECT_TRUE(drawn.ends_with("</svg>\n"));
  EXPECT_EQ(count(drawn, "<circle "), 5U);
  EXPECT_EQ(count(drawn, ">udp</text>"), 1U);
  EXPECT_EQ(count(drawn, ">raw</text>"), 1U);
  EXPECT_NE(drawn.find("payload, bytes"), std::string::npos);
}

TEST(paths_plot, escapes_what_would_be_markup) {
  auto what = two_lines();
  what.title = "<script>&\"";
  what.lines[0].name = "a<b";
  const auto drawn = draw(what);
  EXPECT_EQ(drawn.find("<script>"), std::string::npos);
  EXPECT_NE(drawn.find("&lt;script&gt;&amp;&quot;"), std::string::npos);
  EXPECT_NE(drawn.find("a&lt;b"), std::string::npos);
}

TEST(paths_plot, leaves_out_what_its_axis_cannot_have) {
  plot what{.title = "t", .unit = "u", .is_logarithmic = true, .lines = {{"x", {}}}};
  const double infinite = std::numeric_limits<double>::infinity();
  what.lines[0].points = {{50, 0}, {100, -1}, {200, infinite}, {0, 5}, {400, 5}};
  EXPECT_EQ(count(draw(what), "<circle "), 1U);
  what.lines[0].points.clear();
  const auto empty = draw(what);
  EXPECT_EQ(count(empty, "<circle "), 0U);
  EXPECT_EQ(empty.find("nan"), std::string::npos);
  EXPECT_EQ(empty.find("inf"), std::string::npos);
}

TEST(paths_table, numbers_have_three_digits_and_a_letter) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.01234), "0.0123");
  EXPECT_EQ(short_number(5.678), "5.68");
  EXPECT_EQ(short_number(999), "999");
  EXPECT_EQ(short_number(1234), "1.23k");
  EXPECT_EQ(short_number(999'600), "1.00M");
  EXPECT_EQ(short_number(12'345'678), "12.3M");
  EXPECT_EQ(short_number(4.5e9), "4.50G");
}

}  // namespace
}  // namespace strata::measure
