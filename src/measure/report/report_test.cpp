// Tests the plan before the findings, and the document and the report after them.
#include "measure/report/report.hpp"

#include <gtest/gtest.h>

#include "measure/report/document.hpp"
#include "measure/run/plan.hpp"

namespace strata::measure {
namespace {

plan planned(request request) {
  auto made = make_plan(request, 9000, true);
  EXPECT_TRUE(made) << (made ? "" : describe(made.error()));
  return made ? *made : plan{};
}

// Returns a result with `rate` messages per second, in which the rest of `sent` was lost.
measured seen(double rate, std::uint64_t sent, std::uint64_t delivered, std::uint64_t dropped) {
  measured made;
  made.near = {.sent = sent, .seconds = 1, .cpu_ns = 1000 * sent, .allocations = 0};
  made.far = {.delivered = delivered,
              .rate = rate,
              .dropped = dropped,
              .cpu_ns = 10 * delivered,
              .allocations = 0};
  return made;
}

findings two_paths() {
  findings found{
      .of = planned(
          {.measures = "one-way", .paths = "udp,packet_ring", .payloads = "50", .tagged = "none"}),
      .link = {{"kind", "veth"}}};
  for (const auto& who : found.of.groups[0].contenders) {
    found.all.emplace_back(found.of.groups[0], who);
    const double rate = who.path->name == "udp" ? 100'000 : 400'000;
    // A slow run is slow for all paths.
    for (int i = 1; i <= 5; ++i) found.all.back().add(seen(rate / i, 1000, 900, 60));
  }
  return found;
}

TEST(paths_plan, covers_all_payloads_when_full_and_leaves_out_what_does_not_fit) {
  const auto all = planned({.full = true, .measures = "one-way"});
  EXPECT_EQ(all.groups.size(), 32U);
  for (const auto& each : all.groups) {
    for (const auto& who : each.contenders) {
      if (who.path->name != "udp_gso") continue;
      EXPECT_TRUE(each.payload <= 1472 || each.payload > 1500) << each.payload;
    }
  }
  const auto small = make_plan({.measures = "one-way", .payloads = "4096"}, 1500, false);
  ASSERT_TRUE(small);
  for (const auto& who : small->groups.at(0).contenders) {
    EXPECT_TRUE(who.path->is_packed || !who.path->is_raw) << who.path->name;
  }
}

TEST(paths_plan, measures_with_one_mtu_if_it_is_told_to) {
  const auto usual = planned({.measures = "one-way", .payloads = "50,4096"});
  EXPECT_EQ(usual.groups.at(0).mtu, 1500U);
  EXPECT_EQ(usual.groups.at(1).mtu, 9000U);
  const auto large = planned({.measures = "one-way", .payloads = "50,4096", .mtu = 65535});
  for (const auto& each : large.groups) EXPECT_EQ(each.mtu, 65535U);
}

TEST(paths_plan, refuses_what_it_does_not_know_and_says_what_there_is) {
  const auto refused = [](request request) {
    const auto made = make_plan(request, 9000, true);
    return made ? std::string() : describe(made.error());
  };
  EXPECT_NE(refused({.paths = "udp,nonsense"}).find("'nonsense'"), std::string::npos);
  EXPECT_NE(refused({.paths = "nonsense"}).find("packet_ring"), std::string::npos);
  EXPECT_NE(refused({.payloads = "50,x"}).find("'x'"), std::string::npos);
  EXPECT_NE(refused({.payloads = "8"}).find("24"), std::string::npos);
  EXPECT_NE(refused({.payloads = "99999999999999999999"}), "");
  EXPECT_NE(refused({.measures = "sideways"}).find("round-trip"), std::string::npos);
}

TEST(paths_document, what_was_sent_is_delivered_dropped_or_unexplained) {
  const auto document = document_of(two_paths());
  ASSERT_EQ(document["one_way"].size(), 2U);
  const auto& row = document["one_way"][0];
  EXPECT_EQ(row["sent"], 5000);
  EXPECT_EQ(row["delivered"], 4500);
  EXPECT_EQ(row["lost"], 500);
  EXPECT_EQ(row["dropped"]["receiver"], 300);
  EXPECT_EQ(row["unexplained"], 200);
  EXPECT_EQ(row["packets_per_s"], 33'330);
  EXPECT_EQ(row["bytes_per_s"], 1'667'000);
}

TEST(paths_document, a_figure_has_an_interval_and_a_ratio_is_of_each_run) {
  const auto document = document_of(two_paths());
  EXPECT_EQ(document["base"], "udp");
  EXPECT_EQ(document["runs"], 5);
  EXPECT_EQ(document["confidence"], 0.9375);
  const auto& base = document["one_way"][0];
  EXPECT_EQ(base["figure"]["low"], 20'000);
  EXPECT_EQ(base["figure"]["high"], 100'000);
  EXPECT_EQ(base["figure_of_each_run"].size(), 5U);
  EXPECT_EQ(base["ratio_to_base"], nullptr);
  const auto& other = document["one_way"][1];
  EXPECT_EQ(other["ratio_to_base"]["low"], 4);
  EXPECT_EQ(other["ratio_to_base"]["high"], 4);
}

TEST(paths_document, holds_the_run_against_its_goals) {
  const auto goals = goals_of(two_paths());
  ASSERT_FALSE(goals.empty());
  EXPECT_EQ(goals[0].value.median, 4);
  EXPECT_EQ(goals[0].outcome(), ruling::reached);
  EXPECT_EQ(document_of(two_paths())["goals"][0]["outcome"], "reached");
}

TEST(paths_document, a_path_that_failed_says_why_and_is_compared_with_nothing) {
  auto found = two_paths();
  found.all[0].give_up("cannot do it");
  EXPECT_EQ(document_of(found)["one_way"][0]["failure"], "cannot do it");
  EXPECT_EQ(find_series(found, quantity::one_way, "udp", 50), nullptr);
}

TEST(paths_report, cycles_are_shown_or_there_is_a_reason) {
  auto found = two_paths();
  const auto machine = nlohmann::json{{"cycle_counters", "cannot count them: none here"}};
  found.link["near"]["machine"] = machine;
  EXPECT_EQ(document_of(found)["one_way"][0]["cycles"], nullptr);
  EXPECT_NE(report_of(found).find("are unknown: cannot count them: none here."), std::string::npos);
  for (auto& one : found.all) {
    auto counting = series(found.of.groups[0], {.path = &one.path()});
    auto run = seen(1000, 1000, 500, 0);
    run.near.cycles = run.near.instructions = 2'000'000;
    run.far.cycles = run.far.instructions = 500'000;
    counting.add(run);
    one = std::move(counting);
  }
  const auto cycles = document_of(found)["one_way"][0]["cycles"];
  EXPECT_EQ(cycles["sender"], 2000);
  EXPECT_EQ(cycles["receiver"], 1000);
  const auto report = report_of(found);
  EXPECT_NE(report.find("| one way | 2.00k / 1.00k | 2.00k / 1.00k |"), std::string::npos);
  EXPECT_EQ(report.find("are unknown"), std::string::npos);
  // A run without these counts makes the median that of fewer runs than stated, so it is omitted.
  found.all[0].add(seen(1000, 1000, 500, 0));
  EXPECT_EQ(document_of(found)["one_way"][0]["cycles"], nullptr);
}

TEST(paths_report, names_its_plots_conditions_and_caveats) {
  const auto report = report_of(two_paths());
  EXPECT_NE(report.find("(packets.svg)"), std::string::npos);
  EXPECT_NE(report.find("(ratio-messages.svg)"), std::string::npos);
  EXPECT_EQ(report.find("(round-trip-busy.svg)"), std::string::npos);
  EXPECT_NE(report.find("| 50 | packet_ring | 133k (80.0k to 400k) | 4 |"), std::string::npos);
  EXPECT_NE(report.find("softirq"), std::string::npos);
  EXPECT_NE(report.find("udp_gso"), std::string::npos);
}

}  // namespace
}  // namespace strata::measure
