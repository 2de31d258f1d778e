#include "measure/report/comparison.hpp"

#include <gtest/gtest.h>

namespace strata::measure {
namespace {

using json = nlohmann::json;

json interval(double low, double middle, double high) {
  return {{"low", low}, {"median", middle}, {"high", high}};
}

json row(const char* path, json ratio) {
  return {{"path", path},
          {"payload", 50},
          {"tagged", false},
          {"figure", interval(1, 2, 3)},
          {"ratio_to_base", std::move(ratio)}};
}

named_result host(const char* name, json ratio, std::size_t runs = 5) {
  const json end{{"machine", {{"cpu", name}, {"cores", 2}, {"kernel", "6.1"}}}};
  return {.name = name,
          .document = {{"format", "strata bench paths"},
                       {"version", 2},
                       {"base", "udp"},
                       {"runs", runs},
                       {"confidence", 0.9375},
                       {"began", "then"},
                       {"command", "strata bench paths"},
                       {"revision", nullptr},
                       {"link", {{"kind", "veth"}, {"near", end}, {"far", end}}},
                       {"one_way", {row("udp", nullptr), row("packet", std::move(ratio))}},
                       {"round_trip", json::array()},
                       {"filter", json::array()}}};
}

json packet_row(const std::vector<named_result>& results) {
  const auto compared = compare(results);
  EXPECT_TRUE(compared);
  return compared ? compared->at("rows").at(1) : json();
}

TEST(paths_comparison, ratios_agree_when_all_intervals_have_a_point_in_common) {
  const auto near = host("one", interval(2, 2.5, 3));
  const auto alike = packet_row({near, host("two", interval(2.9, 4, 5))});
  EXPECT_EQ(alike["agree"], true);
  EXPECT_EQ(alike["side"], "above");
  EXPECT_EQ(alike["low"], 2);
  EXPECT_EQ(alike["high"], 5);
  const auto other = packet_row({near, host("two", interval(3.1, 4, 5))});
  EXPECT_EQ(other["agree"], false);
  EXPECT_EQ(other["side"], "above");
  // The first and the last do not overlap, whatever lies between them.
  const auto three =
      packet_row({near, host("two", interval(1, 4, 5)), host("three", interval(4, 4.5, 5))});
  EXPECT_EQ(three["agree"], false);
}

TEST(paths_comparison, the_side_of_1_is_undecided_where_an_interval_holds_it) {
  const auto near = host("one", interval(0.8, 0.9, 0.95));
  EXPECT_EQ(packet_row({near, host("two", interval(0.7, 0.8, 0.9))})["side"], "below");
  EXPECT_EQ(packet_row({near, host("two", interval(0.7, 0.8, 1.1))})["side"], "undecided");
}

TEST(paths_comparison, too_few_runs_say_nothing) {
  const auto one = packet_row({host("one", interval(2, 2, 2)), host("two", interval(2, 2, 2), 4)});
  EXPECT_EQ(one["agree"], nullptr);
  EXPECT_EQ(one["side"], "undecided");
}

TEST(paths_comparison, what_one_host_alone_has_is_compared_with_nothing) {
  const auto one = packet_row({host("one", interval(2, 2, 2)), host("two", nullptr)});
  EXPECT_EQ(one["agree"], nullptr);
  EXPECT_EQ(one["low"], nullptr);
  EXPECT_EQ(one["ratios"][1], nullptr);
}

TEST(paths_comparison, tables_have_a_column_for_each_host) {
  const auto compared =
      compare({host("one", interval(2, 2.5, 3)), host("two", interval(3.5, 4, 5))});
  ASSERT_TRUE(compared);
  const auto tables = comparison_tables(*compared);
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_EQ(tables[0].rows.size(), 3U);
  const std::vector<std::string> wanted{"50",           "delivered/s", "packet", "2.5 (2 to 3)",
                                        "4 (3.5 to 5)", "NO",          "above",  "2 to 5"};
  EXPECT_EQ(tables[1].rows.at(1), wanted);
  EXPECT_EQ(comparison_summary(*compared),
            "1 ratios exist on two hosts or more: 0 agree (their intervals overlap), 0 of them "
            "within a factor of 1.5; 1 are on the same side of 1 on all hosts.");
  const auto alike = compare({host("one", interval(2, 2.5, 3)), host("two", interval(2, 2, 2.9))});
  EXPECT_NE(comparison_summary(*alike).find("1 agree"), std::string::npos);
  EXPECT_NE(comparison_summary(*alike).find("1 of them within"), std::string::npos);
}

TEST(paths_comparison, what_is_no_result_is_refused_by_its_name) {
  const auto good = host("good", interval(2, 2, 2));
  const auto refused = [&](json document) {
    const auto made = compare({good, {.name = "bad", .document = std::move(document)}});
    return made ? std::string() : describe(made.error());
  };
  EXPECT_NE(refused(json::array()).find("'bad'"), std::string::npos);
  auto old = good.document;
  old["version"] = 1;
  EXPECT_NE(refused(old).find("measure again"), std::string::npos);
  auto other = good.document;
  other["base"] = "tcp";
  EXPECT_NE(refused(other).find("--base"), std::string::npos);
  auto broken = good.document;
  broken["one_way"][0].erase("payload");
  EXPECT_NE(refused(broken), "");
  broken = good.document;
  broken["link"] = 5;
  EXPECT_NE(refused(broken), "");
  // Any value is either rejected or can be shown.
  const auto flat = good.document.flatten();
  for (const auto& [where, was] : flat.items()) {
    for (const auto& value : {json(-1.5), json("x"), json(true), json(nullptr), json::array()}) {
      auto changed = good.document;
      changed[json::json_pointer(where)] = value;
      const auto made = compare({good, {.name = "bad", .document = changed}});
      if (!made) continue;
      EXPECT_EQ(comparison_tables(*made).size(), 3U) << where;
      EXPECT_NE(comparison_summary(*made), "") << where;
    }
  }
}

}  // namespace
}  // namespace strata::measure
