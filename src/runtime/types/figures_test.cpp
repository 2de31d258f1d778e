#include "runtime/figures.hpp"

#include <gtest/gtest.h>

#include <set>

#include "runtime/types/types.hpp"

namespace strata::runtime {
namespace {

TEST(figures, no_two_share_a_key_a_metric_or_a_column) {
  std::set<std::string_view> keys;
  std::set<std::string_view> metrics;
  std::set<std::string_view> columns = {"name", "type", "state", "uptime"};
  for (const auto& row : all_figures()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_TRUE(row.metric.empty() || metrics.insert(row.metric).second) << row.metric;
    EXPECT_TRUE(row.column.empty() || columns.insert(row.column).second) << row.column;
    EXPECT_FALSE(row.help.empty()) << row.key;
  }
}

TEST(figures, metrics_are_named_as_prometheus_has_it) {
  for (const auto& row : all_figures()) {
    if (row.metric.empty()) continue;
    EXPECT_TRUE(row.metric.starts_with("strata_")) << row.metric;
    EXPECT_EQ(row.metric.ends_with("_total"), row.kind == options::figure_kind::counter)
        << row.metric;
  }
}

TEST(figures, drops_are_shown_by_the_names_of_their_reasons) {
  counters counted;
  counted.drop_message(drop::connection, 3);
  statistics sum;
  sum.add(counted, 0);
  const auto rows = common_figure_rows();
  const auto values = values_of(sum, common_figures());
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (rows[at].key != "dropped") continue;
    EXPECT_EQ(values[at]["connection"], 3);
    EXPECT_EQ(values[at]["rate_limit"], 0);
  }
}

}  // namespace
}  // namespace strata::runtime
