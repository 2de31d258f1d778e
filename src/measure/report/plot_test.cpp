#include "measure/report/plot.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "measure/report/table.hpp"

namespace strata::measure {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

plot two_lines() {
  return {.title = "Round trip",
          .unit = "us",
          .lines = {{.name = "udp", .points = {{50, 4}, {1500, 5}, {8000, 9}}},
                    {.name = "raw", .points = {{50, 2}, {1500, 3}}}}};
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
  plot what{.title = "t", .unit = "u", .is_logarithmic = true, .lines = {{.name = "x"}}};
  const double infinite = std::numeric_limits<double>::infinity();
  what.lines[0].points = {{50, 0}, {100, -1}, {200, infinite}, {0, 5}, {400, 5}, {500, 5, 0, 6}};
  EXPECT_EQ(count(draw(what), "<circle "), 1U);
  what.lines[0].points.clear();
  const auto empty = draw(what);
  EXPECT_EQ(count(empty, "<circle "), 0U);
  EXPECT_EQ(empty.find("nan"), std::string::npos);
  EXPECT_EQ(empty.find("inf"), std::string::npos);
}

TEST(paths_plot, an_interval_is_drawn_where_there_is_one) {
  auto what = two_lines();
  EXPECT_EQ(count(draw(what), "class=\"interval\""), 0U);
  what.lines[0].points[1] = {1500, 5, 4, 7};
  EXPECT_EQ(count(draw(what), "class=\"interval\""), 1U);
}

TEST(paths_plot, axes_begin_and_end_with_a_label) {
  plot what{.title = "t", .unit = "u", .is_logarithmic = true, .lines = {{.name = "x"}}};
  what.lines[0].points = {{60, 30'000}, {8000, 610'000}};
  const auto drawn = draw(what);
  for (const auto* const tick : {">50<", ">10000<", ">20.0k<", ">1.00M<"}) {
    EXPECT_EQ(count(drawn, tick), 1U) << tick;
  }
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
