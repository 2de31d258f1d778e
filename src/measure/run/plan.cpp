#include "measure/run/plan.hpp"

#include <algorithm>
#include <charconv>

#include "measure/counting/statistics.hpp"

namespace strata::measure {

namespace {

constexpr std::uint64_t ip_and_udp_headers = 28;
constexpr std::uint32_t usual_mtu = 1500;
constexpr std::uint32_t jumbo_mtu = 9000;

std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    if (comma != 0) parts.push_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

result<std::vector<std::uint64_t>> payloads_of(const request& request) {
  std::vector<std::uint64_t> sizes;
  for (const auto part : parts_of(request.payloads)) {
    std::uint64_t size = 0;
    const auto [end, wrong] = std::from_chars(part.begin(), part.end(), size);
    if (wrong != std::errc() || end != part.end() || size < min_payload || size > max_payload) {
      return failure(errc::invalid_argument,
                     "measure a payload of '" + std::string(part) + "' bytes", {},
                     "use numbers from " + std::to_string(min_payload) + " to " +
                         std::to_string(max_payload) + ", separated by commas");
    }
    sizes.push_back(size);
  }
  if (!sizes.empty()) return sizes;
  if (!request.full) return std::vector<std::uint64_t>{50, 200, 600, 1000, 1400, 4096, 8000};
  for (std::uint64_t size = 50; size <= usual_mtu; size += 50) sizes.push_back(size);
  sizes.insert(sizes.end(), {4096, 8000});
  return sizes;
}

result<std::vector<const path_row*>> paths_of(const request& request, bool has_plain) {
  std::vector<const path_row*> rows;
  for (const auto part : parts_of(request.paths)) {
    const auto found = find_path(part);
    if (!found) return std::unexpected(found.error());
    if ((*found)->open == nullptr && !has_plain) {
      return failure(errc::not_found, "measure " + std::string(part),
                     "the plain C program is neither next to this program nor in libexec/strata",
                     "build the target strata-plain-packet");
    }
    rows.push_back(*found);
  }
  if (!rows.empty()) return rows;
  for (const auto& row : catalogue()) {
    if (row.open != nullptr || has_plain) rows.push_back(&row);
  }
  return rows;
}

struct chosen_measures {
  bool one_way = false;
  bool round_trip = false;
  bool filter = false;
  bool sockets = false;
};

result<chosen_measures> measures_of(const request& request) {
  // At a rate only one thing can be measured: the delay on the way.
  if (request.measures.empty() && request.rate > 0) return chosen_measures{.one_way = true};
  if (request.measures.empty()) return chosen_measures{true, true, true, true};
  chosen_measures chosen;
  for (const auto part : parts_of(request.measures)) {
    if (part == "one-way") {
      chosen.one_way = true;
    } else if (part == "round-trip") {
      chosen.round_trip = true;
    } else if (part == "filter") {
      chosen.filter = true;
    } else if (part == "sockets") {
      chosen.sockets = true;
    } else {
      return failure(errc::invalid_argument, "measure '" + std::string(part) + "'",
                     "no measure has this name",
                     "choose from one-way, round-trip, filter, sockets");
    }
  }
  return chosen;
}

// Returns the MTU for measuring messages of this size, if the link supports it.
std::uint32_t mtu_for(std::uint64_t payload, const request& request, std::uint32_t largest) {
  if (request.mtu) return *request.mtu;
  return std::min(largest, payload > usual_mtu ? jumbo_mtu : usual_mtu);
}

bool fits(const path_row& row, std::uint64_t payload, std::uint32_t mtu) {
  if (row.is_raw) return row.is_packed || payload <= mtu;
  return !row.needs_room || payload + ip_and_udp_headers <= mtu;
}

bool is_tagged_too(const request& request, std::uint64_t payload,
                   const std::vector<std::uint64_t>& payloads) {
  if (request.tagged == "all") return true;
  if (request.tagged == "none") return false;
  if (request.full) return payload <= usual_mtu;
  std::uint64_t last = 0;
  for (const auto each : payloads) last = each <= usual_mtu ? std::max(last, each) : last;
  return payload == *std::ranges::min_element(payloads) || payload == last;
}

// The rate of measured messages among foreign ones: low enough for every path.
constexpr double filter_rate = 100'000;
constexpr std::string_view filtered_paths[] = {"udp", "packet_batch", "packet_ring"};

void add_filter_group(plan& plan, const std::vector<const path_row*>& rows, group group,
                      double foreign) {
  for (const auto* row : rows) {
    if (std::ranges::find(filtered_paths, row->name) == std::end(filtered_paths)) continue;
    group.contenders.push_back({.path = row});
    group.contenders.push_back({.path = row, .foreign = foreign});
  }
  if (!group.contenders.empty()) plan.groups.push_back(std::move(group));
}

}  // namespace

std::string_view name_of(quantity quantity) {
  switch (quantity) {
    case quantity::one_way: return "one_way";
    case quantity::round_trip: return "round_trip";
    case quantity::filter: return "filter";
  }
  return "";
}

result<plan> make_plan(const request& request, std::uint32_t mtu, bool has_plain) {
  const auto payloads = payloads_of(request);
  if (!payloads) return std::unexpected(payloads.error());
  const auto rows = paths_of(request, has_plain);
  if (!rows) return std::unexpected(rows.error());
  const auto chosen = measures_of(request);
  if (!chosen) return std::unexpected(chosen.error());
  const auto base = find_path(request.base);
  if (!base) return std::unexpected(base.error());
  // A planted bug must not be hidden by a large buffer.
  const std::uint64_t usual_buffer = request.planted_sleep ? 1U << 16U : 1U << 22U;
  plan made{.measures_sockets = chosen->sockets,
            .seconds = request.seconds.value_or(0.1),
            .runs = request.runs.value_or(least_runs),
            .buffer = request.buffer.value_or(usual_buffer),
            .vlan_id = request.vlan_id,
            .priority = request.priority,
            .base = *base,
            .mtu = request.mtu,
            .planted_sleep = request.planted_sleep};
  for (const auto payload : *payloads) {
    const auto room = mtu_for(payload, request, mtu);
    const bool tagged = is_tagged_too(request, payload, *payloads);
    group one_way{.kind = quantity::one_way, .payload = payload, .mtu = room, .rate = request.rate};
    group round_trip{.kind = quantity::round_trip, .payload = payload, .mtu = room};
    for (const auto* row : *rows) {
      if (!fits(*row, payload, room)) continue;
      if (row->one_way) one_way.contenders.push_back({.path = row});
      if (row->round_trip) round_trip.contenders.push_back({.path = row});
      if (!tagged || !row->is_raw || row->is_packed || row->open == nullptr) continue;
      if (row->one_way) one_way.contenders.push_back({.path = row, .tagged = true});
      if (row->round_trip) round_trip.contenders.push_back({.path = row, .tagged = true});
    }
    if (chosen->one_way && !one_way.contenders.empty()) made.groups.push_back(one_way);
    if (chosen->round_trip && !round_trip.contenders.empty()) {
      made.groups.push_back(round_trip);
      round_trip.busy = true;
      made.groups.push_back(round_trip);
    }
  }
  if (chosen->filter && request.foreign > 0 && request.rate == 0) {
    const auto payload = payloads->front();
    const auto room = mtu_for(payload, request, mtu);
    add_filter_group(
        made, *rows,
        {.kind = quantity::filter, .payload = payload, .mtu = room, .rate = filter_rate},
        request.foreign);
  }
  return made;
}

}  // namespace strata::measure
