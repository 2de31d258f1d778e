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

// Four significant digits: what is behind them is noise.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

json row_of(const series& one, double bound) {
  json row{{"path", one.path().name},
           {"title", one.path().title},
           {"payload", one.payload()},
           {"mtu", one.mtu()},
           {"tagged", one.is_tagged()}};
  if (!one.failure().empty()) {
    row["failure"] = one.failure();
    return row;
  }
  row["repetitions"] = one.repetitions();
  row["spread"] = rounded(one.spread());
  row["settled"] = one.spread() <= bound;
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
    return {{"path", rival->path().name}, {"ratio", rounded(verdict::ratio(one.xdp, rival))}};
  };
  const auto ruling = one.outcome();
  return {{"measure", name_of(one.xdp->kind())},
          {"busy", one.xdp->is_busy()},
          {"payload", one.xdp->payload()},
          {"path", one.xdp->path().name},
          {"af_packet", against(one.packet)},
          {"udp", against(one.udp)},
          {"verdict", ruling == verdict::ruling::wins    ? "wins"
                      : ruling == verdict::ruling::loses ? "loses"
                                                         : "even"}};
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
  explicit goal_list(const findings& of) : in_(of) {
    for (const auto& group : of.of.groups) least_ = std::min(least_, group.payload);
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
  void ratio(const series* of, const series* to, std::string_view what, bool at_least,
             double bound) {
    if (of == nullptr || to == nullptr || to->headline() <= 0) return;
    add(fmt::format("{}: {} to {}, {} B", what, of->path().name, to->path().name, least_),
        of->headline() / to->headline(), at_least, bound);
  }
  void difference(const series* of, const series* to, std::string_view what, double bound) {
    if (of == nullptr || to == nullptr) return;
    add(fmt::format("{}: {} less {}, {} B", what, of->path().name, to->path().name, least_),
        of->headline() - to->headline(), false, bound);
  }
  void add(std::string text, double value, bool at_least, double bound) {
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

const series* find_series(const findings& in, quantity kind, std::string_view path,
                          std::uint64_t payload, bool busy, double foreign) {
  const auto found = std::ranges::find_if(in.all, [&](const series& one) {
    return one.kind() == kind && one.path().name == path && one.payload() == payload &&
           one.is_busy() == busy && one.foreign() == foreign && !one.is_tagged() &&
           one.failure().empty();
  });
  return found == in.all.end() ? nullptr : &*found;
}

std::vector<goal> goals_of(const findings& of) {
  // At a rate that all can carry, rates say nothing.
  const bool at_rate = std::ranges::any_of(of.of.groups, [](const group& each) {
    return each.kind == quantity::one_way && each.rate > 0;
  });
  goal_list list(of);
  const auto* const udp = list.rate_of("udp");
  if (!at_rate && !of.of.planted_sleep) {
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
    const auto* const one = list.rate_of(path);
    const auto allocations = one == nullptr ? std::nullopt : one->allocations();
    if (allocations) {
      list.add(fmt::format("allocations a message: {}", path), *allocations, false, 0.001);
    }
    for (const auto& group : of.of.groups) {
      if (group.kind != quantity::filter) continue;
      list.ratio(list.filter(path, group.contenders.back().foreign), list.filter(path, 0),
                 "receiver's CPU with foreign frames", false, 1.1);
    }
  }
  return list.made;
}

json document_of(const findings& of) {
  json made{{"format", "strata bench paths"},
            {"version", 1},
            {"seconds", rounded(of.seconds)},
            {"link", of.link},
            {"settings",
             {{"seconds_a_measurement", of.of.seconds},
              {"least_repetitions", of.of.least_repetitions},
              {"most_repetitions", of.of.most_repetitions},
              {"spread_bound", of.of.spread_bound},
              {"buffer", of.of.buffer},
              {"mtu", of.of.mtu ? json(*of.of.mtu) : json(nullptr)},
              {"planted", of.of.planted_sleep ? json("receiver-sleep") : json(nullptr)}}},
            {"one_way", json::array()},
            {"round_trip", json::array()},
            {"filter", json::array()},
            {"sockets", sockets_of(of.sockets)},
            {"af_xdp", json::array()},
            {"goals", json::array()}};
  for (const auto& one : of.all) {
    made[std::string(name_of(one.kind()))].push_back(row_of(one, of.of.spread_bound));
  }
  for (const auto& each : verdicts_of(of)) {
    made["af_xdp"].push_back(row_of(each));
  }
  for (const auto& each : goals_of(of)) {
    made["goals"].push_back({{"text", each.text},
                             {"value", rounded(each.value)},
                             {"relation", each.at_least ? ">=" : "<="},
                             {"bound", each.bound},
                             {"met", each.is_met()}});
  }
  return made;
}

}  // namespace strata::measure
