#include "measure/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "measure/run/verdict.hpp"

namespace strata::measure {

namespace {

using rows = std::vector<std::vector<std::string>>;

std::string name_with_tag(const series& one) {
  return std::string(one.path().name) + (one.is_tagged() ? " +vlan" : "");
}

std::string beside_base(const findings& findings, const series& one) {
  if (&one.path() == findings.of.base) return "1";
  const auto ratio = ratio_to_base(findings, one);
  return ratio.runs == 0 ? "-" : with_interval(ratio);
}

std::string measure_text(const series& one) {
  if (one.kind() == quantity::one_way) return "one way";
  if (one.kind() == quantity::filter) return "with foreign frames";
  return one.is_busy() ? "round trip, spinning" : "round trip, blocking";
}

std::string percent_lost(const series& one) {
  if (one.sent() <= one.delivered()) return "0";
  const double part =
      static_cast<double>(one.sent() - one.delivered()) / static_cast<double>(one.sent());
  return part < 0.0001 ? "<0.01%" : fmt::format("{:.2f}%", part * 100);
}

std::string heading_of_ratio(const findings& findings) {
  return fmt::format("X {}", findings.of.base->name);
}

template <class Heading, class Cells>
table make(const std::string& title, const findings& findings, Heading headings, quantity kind,
           bool busy, Cells cells) {
  table made{.title = title, .rows = {headings}};
  for (const auto& one : findings.all) {
    if (one.kind() != kind || one.is_busy() != busy) continue;
    auto row = std::vector{std::to_string(one.payload()), name_with_tag(one)};
    if (one.failure().empty()) {
      for (auto& cell : cells(one)) row.push_back(std::move(cell));
    } else {
      row.push_back(one.failure());
    }
    made.rows.push_back(std::move(row));
  }
  return made;
}

table one_way(const findings& findings) {
  const bool at_rate = std::ranges::any_of(findings.all, [](const series& one) {
    return one.kind() == quantity::one_way && one.rate() > 0;
  });
  std::vector<std::string> headings{"BYTES",   "PATH", "DELIVERED/S", heading_of_ratio(findings),
                                    "BYTES/S", "LOST", "SEND NS",     "RECV NS"};
  if (at_rate) headings.insert(headings.end(), {"P50 US", "P99 US", "P99.9 US"});
  return make("One way, counted at the receiver", findings, headings, quantity::one_way, false,
              [&](const series& one) {
                rows::value_type cells{
                    with_interval(one.headline_estimate()), beside_base(findings, one),
                    short_number(one.bytes_per_second()),   percent_lost(one),
                    short_number(one.sender_ns()),          short_number(one.receiver_ns())};
                if (at_rate) {
                  for (const double part : {0.5, 0.99, 0.999}) {
                    cells.push_back(short_number(one.time_us(part)));
                  }
                }
                return cells;
              });
}

table round_trip(const findings& findings, bool busy) {
  return make(busy ? "Round trip, receivers spin" : "Round trip, receivers block", findings,
              std::vector<std::string>{"BYTES", "PATH", "MEDIAN US", heading_of_ratio(findings),
                                       "P99 US", "P99.9 US", "LOST"},
              quantity::round_trip, busy, [&](const series& one) {
                return rows::value_type{with_interval(one.headline_estimate()),
                                        beside_base(findings, one), short_number(one.time_us(0.99)),
                                        short_number(one.time_us(0.999)), percent_lost(one)};
              });
}

table filter(const findings& findings) {
  return make("Receiver with foreign frames, which its filter rejects", findings,
              std::vector<std::string>{"BYTES", "PATH", "FOREIGN/S", "RECV NS", "LOST"},
              quantity::filter, false, [&](const series& one) {
                return rows::value_type{short_number(one.foreign()),
                                        with_interval(one.headline_estimate()), percent_lost(one)};
              });
}

std::string both_ends(const std::optional<series::events>& counted) {
  if (!counted) return "-";
  return fmt::format("{} / {}", short_number(counted->sender), short_number(counted->receiver));
}

// Empty if nothing was counted: the reason is below the tables.
table events(const findings& findings) {
  table made{.title = "Processor counts per message, sender / receiver",
             .rows = {{"BYTES", "PATH", "MEASURE", "CYCLES", "INSTRUCTIONS"}}};
  for (const auto& one : findings.all) {
    if (!one.failure().empty() || !one.cycles()) continue;
    made.rows.push_back({std::to_string(one.payload()), name_with_tag(one), measure_text(one),
                         both_ends(one.cycles()), both_ends(one.instructions())});
  }
  return made;
}

table sockets(const nlohmann::json& document) {
  table made{.title = "Opening and closing a socket",
             .rows = {{"RUNS", "SOCKET", "OPEN US", "CLOSE US"}}};
  for (const auto& each : document.at("sockets")) {
    made.rows.push_back({std::to_string(each.at("repetitions").get<std::size_t>()),
                         each.at("title").get<std::string>(),
                         short_number(each.at("open_us").get<double>()),
                         short_number(each.at("close_us").get<double>())});
  }
  return made;
}

table goals(const findings& findings) {
  table made{.title = "Goals, as ratios and differences within each run",
             .rows = {{"OUTCOME", "WHAT", "VALUE", "GOAL"}}};
  for (const auto& each : goals_of(findings)) {
    made.rows.push_back({std::string(name_of(each.outcome())), each.text, with_interval(each.value),
                         fmt::format("{} {:g}", each.at_least ? ">=" : "<=", each.bound)});
  }
  return made;
}

std::string rival(const verdict& verdict, const series* series) {
  if (series == nullptr) return "-";
  return fmt::format("{}: {}", series->path().name,
                     with_interval(verdict::ratio(verdict.xdp, series)));
}

table verdicts(const findings& findings) {
  table made{.title = "AF_XDP compared with AF_PACKET and UDP: ratio to the best of them",
             .rows = {{"BYTES", "MEASURE", "BEST AF_XDP", "BEST AF_PACKET", "BEST UDP", "AF_XDP"}}};
  for (const auto& each : verdicts_of(findings)) {
    const auto& one = *each.xdp;
    const auto outcome = each.outcome();
    made.rows.push_back({std::to_string(one.payload()), measure_text(one),
                         std::string(one.path().name), rival(each, each.packet),
                         rival(each, each.udp),
                         outcome == ruling::reached  ? "wins"
                         : outcome == ruling::missed ? "does not win"
                                                     : "undecided"});
  }
  return made;
}

}  // namespace

std::string short_number(double value) {
  constexpr struct {
    double from;
    const char* letter;
  } steps[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [from, letter] : steps) {
    // 999,600 is "1.00M", not "1000k".
    if (value >= from * 0.9995) {
      const double scaled = value / from;
      const int digits = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
      return fmt::format("{:.{}f}{}", scaled, digits, letter);
    }
  }
  return value == 0 ? "0" : fmt::format("{:.3g}", value);
}

std::string with_interval(const estimate& figure) {
  const auto signed_number = [](double value) {
    return value < 0 ? '-' + short_number(-value) : short_number(value);
  };
  if (figure.low == figure.high) return signed_number(figure.median);
  return fmt::format("{} ({} to {})", signed_number(figure.median), signed_number(figure.low),
                     signed_number(figure.high));
}

std::string meaning_of_intervals(std::uint64_t runs) {
  if (runs == 1) return "From one run, which predicts nothing about the next.";
  const auto chance = confidence_of(runs);
  return fmt::format(
      "A figure is the median of {} runs; in parentheses the interval that contains the "
      "median of all such runs with a confidence of {:.1f} %{}.",
      runs, chance * 100, runs < least_runs ? ", too few to decide" : "");
}

std::string missing_events(const findings& findings) {
  const bool is_counted =
      std::ranges::any_of(findings.all, [](const series& one) { return one.cycles().has_value(); });
  if (is_counted) return {};
  const auto end = findings.link.value("near", nlohmann::json::object());
  const auto machine = end.value("machine", nlohmann::json::object());
  const auto why = machine.value("cycle_counters", std::string("the far end does not count them"));
  return "Cycles and instructions per message are unknown: " +
         (why == "yes" ? "the far end or another program's use of the counters prevents it" : why) +
         ".";
}

std::vector<table> tables_of(const findings& findings) {
  std::vector<table> all{
      one_way(findings), round_trip(findings, false),    round_trip(findings, true),
      filter(findings),  sockets(document_of(findings)), verdicts(findings),
      goals(findings)};
  all.insert(all.begin() + 4, events(findings));
  std::erase_if(all, [](const table& each) { return each.rows.size() < 2; });
  return all;
}

}  // namespace strata::measure
