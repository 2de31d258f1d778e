#include "measure/report/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "measure/counting/statistics.hpp"
#include "measure/run/verdict.hpp"

namespace strata::measure {

namespace {

using json = nlohmann::json;

// Rounds to four significant digits: the rest is noise.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

json json_of(const estimate& figure) {
  if (figure.runs == 0) return nullptr;
  return {{"median", rounded(figure.median)},
          {"low", rounded(figure.low)},
          {"high", rounded(figure.high)}};
}

json json_of(const std::optional<series::events>& counted) {
  if (!counted) return nullptr;
  return {{"sender", rounded(counted->sender)}, {"receiver", rounded(counted->receiver)}};
}

json headlines_of(const series& one) {
  auto all = json::array();
  for (const double each : one.headlines()) all.push_back(rounded(each));
  return all;
}

json row_of(const findings& findings, const series& one) {
  json row{{"path", one.path().name},
           {"title", one.path().title},
           {"payload", one.payload()},
           {"mtu", one.mtu()},
           {"tagged", one.is_tagged()}};
  if (!one.failure().empty()) {
    row["failure"] = one.failure();
    return row;
  }
  row["figure"] = json_of(one.headline_estimate());
  row["figure_of_each_run"] = headlines_of(one);
  row["ratio_to_base"] = json_of(ratio_to_base(findings, one));
  row["sent"] = one.sent();
  row["delivered"] = one.delivered();
  const auto lost = one.sent() - std::min(one.sent(), one.delivered());
  const auto explained = one.dropped_by_receiver() + one.dropped_by_interface();
  row["lost"] = lost;
  row["dropped"] = {{"receiver", one.dropped_by_receiver()},
                    {"interface", one.dropped_by_interface()}};
  row["unexplained"] = lost - std::min(lost, explained);
  row["duplicates"] = one.duplicates();
  row["reordered"] = one.reordered();
  row["strays"] = one.strays();
  row["sender_ns"] = rounded(one.sender_ns());
  row["receiver_ns"] = rounded(one.receiver_ns());
  row["cycles"] = json_of(one.cycles());
  row["instructions"] = json_of(one.instructions());
  const auto allocations = one.allocations();
  row["allocations"] = allocations ? json(rounded(*allocations)) : json(nullptr);
  if (one.kind() == quantity::round_trip) {
    row["wait"] = one.is_busy() ? "busy" : "blocking";
    row["median_us"] = rounded(one.headline());
  } else {
    row["packets_per_s"] = rounded(one.packets_per_second());
    row["bytes_per_s"] = rounded(one.bytes_per_second());
    row["rate_per_s"] = one.rate();
  }
  if (one.kind() == quantity::filter) {
    row["foreign_per_s"] = one.foreign();
    row["foreign_sent"] = one.foreign_sent();
  }
  if (one.time_count() != 0) {
    row["times"] = one.time_count();
    if (one.kind() != quantity::round_trip) row["p50_us"] = rounded(one.time_us(0.5));
    row["p99_us"] = rounded(one.time_us(0.99));
    row["p999_us"] = rounded(one.time_us(0.999));
  }
  return row;
}

json row_of(const verdict& one) {
  const auto against = [&](const series* rival) -> json {
    if (rival == nullptr) return nullptr;
    return {{"path", rival->path().name}, {"ratio", json_of(verdict::ratio(one.xdp, rival))}};
  };
  const auto outcome = one.outcome();
  return {{"measure", name_of(one.xdp->kind())},
          {"busy", one.xdp->is_busy()},
          {"payload", one.xdp->payload()},
          {"path", one.xdp->path().name},
          {"af_packet", against(one.packet)},
          {"udp", against(one.udp)},
          {"verdict", outcome == ruling::reached  ? "wins"
                      : outcome == ruling::missed ? "loses"
                                                  : "undecided"}};
}

json sockets_of(const json& measured) {
  auto rows = json::array();
  for (const auto& each : measured) {
    const auto open = each.at("open_us").get<std::vector<double>>();
    const auto close = each.at("close_us").get<std::vector<double>>();
    rows.push_back({{"name", each.at("name")},
                    {"title", each.at("title")},
                    {"repetitions", open.size()},
                    {"open_us", rounded(median(open))},
                    {"close_us", rounded(median(close))}});
  }
  return rows;
}

class goal_list {
 public:
  explicit goal_list(const findings& findings) : in_(findings) {
    for (const auto& group : findings.of.groups) least_ = std::min(least_, group.payload);
  }

  const series* rate_of(std::string_view path) const {
    return look(quantity::one_way, path, false);
  }
  const series* busy(std::string_view path) const { return look(quantity::round_trip, path, true); }
  const series* filter(std::string_view path, double foreign) const {
    return find_series(in_, quantity::filter, path, least_, false, foreign);
  }
  const series* best(std::initializer_list<std::string_view> paths) const {
    const series* found = nullptr;
    for (const auto path : paths) {
      const auto* const one = rate_of(path);
      if (one != nullptr && (found == nullptr || one->headline() > found->headline())) found = one;
    }
    return found;
  }
  void ratio(const series* of, const series* series, std::string_view text, bool at_least,
             double bound) {
    if (of == nullptr || series == nullptr || series->headline() <= 0) return;
    add(fmt::format("{}: {} to {}, {} B", text, of->path().name, series->path().name, least_),
        ratio_of(of->headlines(), series->headlines()), at_least, bound);
  }
  void difference(const series* of, const series* series, std::string_view text, double bound) {
    if (of == nullptr || series == nullptr) return;
    add(fmt::format("{}: {} less {}, {} B", text, of->path().name, series->path().name, least_),
        difference_of(of->headlines(), series->headlines()), false, bound);
  }
  // Over all runs together, counted and not estimated.
  void allocations(const series* series) {
    const auto each = series == nullptr ? std::nullopt : series->allocations();
    if (!each) return;
    add(fmt::format("allocations a message: {}", series->path().name),
        {.median = *each, .low = *each, .high = *each, .runs = series->runs()}, false, 0.001);
  }
  void add(std::string text, const estimate& value, bool at_least, double bound) {
    made.push_back({std::move(text), value, at_least, bound});
  }

  std::vector<goal> made;

 private:
  const series* look(quantity kind, std::string_view path, bool busy) const {
    return find_series(in_, kind, path, least_, busy);
  }

  const findings& in_;
  std::uint64_t least_ = UINT64_MAX;
};

}  // namespace

const series* find_series(const findings& findings, quantity kind, std::string_view path,
                          std::uint64_t payload, bool busy, double foreign) {
  const auto found = std::ranges::find_if(findings.all, [&](const series& one) {
    return one.kind() == kind && one.path().name == path && one.payload() == payload &&
           one.is_busy() == busy && one.foreign() == foreign && !one.is_tagged() &&
           one.failure().empty();
  });
  return found == findings.all.end() ? nullptr : &*found;
}

estimate ratio_to_base(const findings& findings, const series& one) {
  if (!one.failure().empty() || &one.path() == findings.of.base) return {};
  const auto base = std::ranges::find_if(findings.all, [&](const series& other) {
    return &other.path() == findings.of.base && other.kind() == one.kind() &&
           other.payload() == one.payload() && other.is_busy() == one.is_busy() &&
           other.foreign() == one.foreign() && !other.is_tagged() && other.failure().empty();
  });
  if (base == findings.all.end() || base->headline() <= 0) return {};
  return ratio_of(one.headlines(), base->headlines());
}

std::vector<goal> goals_of(const findings& findings) {
  // At a rate that all paths can carry, their rates mean nothing.
  const bool at_rate = std::ranges::any_of(findings.of.groups, [](const group& each) {
    return each.kind == quantity::one_way && each.rate > 0;
  });
  goal_list list(findings);
  const auto* const udp = list.rate_of("udp");
  if (!at_rate && !findings.of.planted_sleep) {
    list.ratio(list.rate_of("packet"), udp, "delivered/s", true, 2.1);
    list.ratio(list.rate_of("packet_ring"), udp, "delivered/s", true, 2.4);
    list.ratio(list.rate_of("ipc"), list.rate_of("udp_gso"), "delivered/s", true, 1);
    list.ratio(list.best({"packet", "packet_batch", "packet_bypass", "send_ring", "packet_ring"}),
               udp, "best AF_PACKET path, delivered/s", true, 2.5);
    list.ratio(list.rate_of("packet"), list.rate_of("plain_packet"), "library, delivered/s", true,
               0.95);
    list.ratio(list.rate_of("packet_ring"), list.rate_of("plain_ring"), "library, delivered/s",
               true, 0.95);
  }
  list.ratio(list.busy("frame_ring"), list.busy("udp"), "busy round trip", false, 0.5);
  list.difference(list.busy("packet"), list.busy("plain_packet"), "library, busy round trip, us",
                  0.2);
  list.difference(list.busy("frame_ring"), list.busy("plain_ring"), "library, busy round trip, us",
                  0.2);
  for (const std::string_view path : {"packet_batch", "packet_ring", "ipc"}) {
    list.allocations(list.rate_of(path));
    for (const auto& group : findings.of.groups) {
      if (group.kind != quantity::filter) continue;
      list.ratio(list.filter(path, group.contenders.back().foreign), list.filter(path, 0),
                 "receiver's CPU with foreign frames", false, 1.1);
    }
  }
  return list.made;
}

json document_of(const findings& findings) {
  json made{{"format", "strata bench paths"},
            {"version", 2},
            {"began", findings.began},
            {"command", findings.command},
            {"revision", findings.revision.empty() ? json(nullptr) : json(findings.revision)},
            {"base", findings.of.base->name},
            {"runs", findings.of.runs},
            {"confidence", rounded(confidence_of(findings.of.runs))},
            {"seconds", rounded(findings.seconds)},
            {"link", findings.link},
            {"settings",
             {{"seconds_a_measurement", findings.of.seconds},
              {"buffer", findings.of.buffer},
              {"vlan_id", findings.of.vlan_id},
              {"priority", findings.of.priority},
              {"mtu", findings.of.mtu ? json(*findings.of.mtu) : json(nullptr)},
              {"planted", findings.of.planted_sleep ? json("receiver-sleep") : json(nullptr)}}},
            {"one_way", json::array()},
            {"round_trip", json::array()},
            {"filter", json::array()},
            {"sockets", sockets_of(findings.sockets)},
            {"af_xdp", json::array()},
            {"goals", json::array()}};
  for (const auto& one : findings.all) {
    made[std::string(name_of(one.kind()))].push_back(row_of(findings, one));
  }
  for (const auto& each : verdicts_of(findings)) {
    made["af_xdp"].push_back(row_of(each));
  }
  for (const auto& each : goals_of(findings)) {
    made["goals"].push_back({{"text", each.text},
                             {"value", json_of(each.value)},
                             {"relation", each.at_least ? ">=" : "<="},
                             {"bound", each.bound},
                             {"outcome", name_of(each.outcome())}});
  }
  return made;
}

}  // namespace strata::measure
