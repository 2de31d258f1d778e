#include "options/figure_table.hpp"

#include <gtest/gtest.h>

namespace strata::options {
namespace {

struct tallies {
  counter sent;
  counter longest;
  counter open;
  counter recent;
  case_counters lost;
  latency waited;
};

constexpr std::string_view reasons[] = {"late", "odd"};

const std::vector<bound_figure<tallies>>& table() {
  static const std::vector<bound_figure<tallies>> rows = {
      {{.key = "sent"}, &tallies::sent},
      {{.key = "queue.longest", .kind = figure_kind::peak}, &tallies::longest},
      {{.key = "queue.open", .kind = figure_kind::gauge}, &tallies::open},
      {{.key = "recent", .kind = figure_kind::rate, .span_s = 60}, &tallies::recent},
      {{.key = "lost", .label = "reason", .cases = reasons}, &tallies::lost},
      {{.key = "waited", .kind = figure_kind::latency}, &tallies::waited},
  };
  return rows;
}

tallies some() {
  tallies of;
  of.sent.add(5);
  of.longest.set(7);
  of.open.set(2);
  of.recent.set(30);
  of.lost[1].add(3);
  of.waited.add(20);
  return of;
}

// Leaves out the latency, except its count.
nlohmann::json shown(const tallies& tallies) {
  auto values = values_of(tallies, table());
  values.back() = values.back().at("count");
  return values;
}

TEST(figure_table, values_stand_in_the_order_of_the_rows) {
  EXPECT_EQ(shown(some()).dump(), R"([5,7,2,0.5,{"late":0,"odd":3},1])");
}

TEST(figure_table, parts_are_added_up_but_the_largest_peak_is_the_peak) {
  auto sum = some();
  auto other = some();
  other.longest.set(6);
  add_figures(sum, other, table());
  EXPECT_EQ(shown(sum).dump(), R"([10,7,4,1.0,{"late":0,"odd":6},2])");
}

TEST(figure_table, sums_and_peaks_stay_and_the_present_does_not) {
  EXPECT_EQ(shown(past_figures(some(), table())).dump(), R"([5,7,0,0.0,{"late":0,"odd":3},1])");
}

TEST(figure_table, a_dot_in_a_key_is_a_step_of_the_pointer) {
  EXPECT_EQ(json_pointer(table()[0].row), "/sent");
  EXPECT_EQ(json_pointer(table()[1].row), "/queue/longest");
}

}  // namespace
}  // namespace strata::options
