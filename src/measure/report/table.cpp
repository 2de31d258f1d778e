#include "measure/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/run/verdict.hpp"

namespace strata::measure {

namespace {

using rows = std::vector<std::vector<std::string>>;

std::string name_with_tag(const series& one) {
  return std::string(one.path().name) + (one.is_tagged() ? " +vlan" : "");
}

std::string spread_of(const series& one, double bound) {
  return fmt::format("{:.1f}%{}", one.spread() * 100, one.spread() <= bound ? "" : " !");
}

std::string percent_lost(const series& one) {
  if (one.sent() <= one.delivered()) return "0";
  const double part =
      static_cast<double>(one.sent() - one.delivered()) / static_cast<double>(one.sent());
  return part < 0.0001 ? "<0.01%" : fmt::format("{:.2f}%", part * 100);
}

template <class Heading, class Cells>
table make(const std::string& title, const findings& of, Heading headings, quantity kind, bool busy,
           Cells cells) {
  table made{.title = title, .rows = {headings}};
  for (const auto& one : of.all) {
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

table one_way(const findings& of) {
  const bool at_rate = std::ranges::any_of(
      of.all, [](const series& one) { return one.kind() == quantity::one_way && one.rate() > 0; });
  std::vector<std::string> headings{"BYTES",   "PATH",    "DELIVERED/S", "BYTES/S", "LOST",
                                    "SEND NS", "RECV NS", "SPREAD",      "RUNS"};
  if (at_rate) headings.insert(headings.end(), {"P50 US", "P99 US", "P99.9 US"});
  return make("One way, counted at the receiver", of, headings, quantity::one_way, false,
              [&](const series& one) {
                rows::value_type cells{short_number(one.packets_per_second()),
                                       short_number(one.bytes_per_second()),
                                       percent_lost(one),
                                       short_number(one.sender_ns()),
                                       short_number(one.receiver_ns()),
                                       spread_of(one, of.of.spread_bound),
                                       std::to_string(one.repetitions())};
                if (at_rate) {
                  for (const double part : {0.5, 0.99, 0.999}) {
                    cells.push_back(short_number(one.time_us(part)));
                  }
                }
                return cells;
              });
}

table round_trip(const findings& of, bool busy) {
  return make(busy ? "Round trip, receivers spin" : "Round trip, receivers block", of,
              std::vector<std::string>{"BYTES", "PATH", "MEDIAN US", "P99 US", "P99.9 US", "LOST",
                                       "SPREAD", "RUNS"},
              quantity::round_trip, busy, [&](const series& one) {
                return rows::value_type{
                    short_number(one.headline()),       short_number(one.time_us(0.99)),
                    short_number(one.time_us(0.999)),   percent_lost(one),
                    spread_of(one, of.of.spread_bound), std::to_string(one.repetitions())};
              });
}

table filter(const findings& of) {
  return make(
      "Receiver beside foreign frames, which its filter refuses", of,
      std::vector<std::string>{"BYTES", "PATH", "FOREIGN/S", "RECV NS", "LOST", "SPREAD", "RUNS"},
      quantity::filter, false, [&](const series& one) {
        return rows::value_type{short_number(one.foreign()), short_number(one.receiver_ns()),
                                percent_lost(one), spread_of(one, of.of.spread_bound),
                                std::to_string(one.repetitions())};
      });
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

table goals(const findings& of) {
  table made{.title = "Goals, as ratios and differences of this run",
             .rows = {{"MET", "WHAT", "VALUE", "GOAL"}}};
  for (const auto& each : goals_of(of)) {
    made.rows.push_back({each.is_met() ? "yes" : "no", each.text, fmt::format("{:.3g}", each.value),
                         fmt::format("{} {:g}", each.at_least ? ">=" : "<=", each.bound)});
  }
  return made;
}

std::string rival(const verdict& of, const series* which) {
  if (which == nullptr) return "-";
  return fmt::format("{} ({:.2f} x)", which->path().name, verdict::ratio(of.xdp, which));
}

table verdicts(const findings& of) {
  table made{.title = "AF_XDP beside AF_PACKET and UDP: how many times as good as the best of them",
             .rows = {{"BYTES", "MEASURE", "BEST AF_XDP", "BEST AF_PACKET", "BEST UDP", "AF_XDP"}}};
  for (const auto& each : verdicts_of(of)) {
    const auto& one = *each.xdp;
    const bool trips = one.kind() == quantity::round_trip;
    const auto ruling = each.outcome();
    made.rows.push_back({std::to_string(one.payload()),
                         !trips          ? "one way"
                         : one.is_busy() ? "round trip, spinning"
                                         : "round trip, blocking",
                         std::string(one.path().name), rival(each, each.packet),
                         rival(each, each.udp),
                         ruling == verdict::ruling::wins    ? "wins"
                         : ruling == verdict::ruling::loses ? "does not win"
                                                            : "is even"});
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

std::vector<table> tables_of(const findings& of) {
  std::vector<table> all{one_way(of), round_trip(of, false),    round_trip(of, true),
                         filter(of),  sockets(document_of(of)), verdicts(of),
                         goals(of)};
  std::erase_if(all, [](const table& each) { return each.rows.size() < 2; });
  return all;
}

}  // namespace strata::measure
