#include "measure/run/verdict.hpp"

#include <algorithm>

namespace strata::measure {

namespace {

// Higher rates are better, and lower times.
bool is_better(const series& one, const series& than) {
  const bool is_rate = one.kind() == quantity::one_way;
  return is_rate ? one.headline() > than.headline() : one.headline() < than.headline();
}

bool is_of(const verdict& here, const series& one) {
  return here.xdp->kind() == one.kind() && here.xdp->is_busy() == one.is_busy() &&
         here.xdp->payload() == one.payload();
}

void take_if_better(const series*& best, const series& one) {
  if (best == nullptr || is_better(one, *best)) best = &one;
}

bool takes_part(const series& one) {
  return one.failure().empty() && !one.is_tagged() && one.rate() == 0 && one.headline() > 0 &&
         (one.kind() == quantity::one_way || one.kind() == quantity::round_trip);
}

}  // namespace

estimate verdict::ratio(const series* xdp, const series* rival) {
  if (xdp == nullptr || rival == nullptr) return {};
  return xdp->kind() == quantity::one_way ? ratio_of(xdp->headlines(), rival->headlines())
                                          : ratio_of(rival->headlines(), xdp->headlines());
}

ruling verdict::outcome() const {
  const auto* rival = packet == nullptr ? udp : packet;
  if (packet != nullptr && udp != nullptr && is_better(*udp, *packet)) rival = udp;
  return decide(ratio(xdp, rival), true, 1);
}

std::vector<verdict> verdicts_of(const findings& findings) {
  std::vector<verdict> all;
  for (const auto& one : findings.all) {
    if (!one.path().is_xdp || !takes_part(one)) continue;
    const auto here = std::ranges::find_if(all, [&](const auto& each) { return is_of(each, one); });
    if (here == all.end()) {
      all.push_back({.xdp = &one});
    } else {
      take_if_better(here->xdp, one);
    }
  }
  for (auto& each : all) {
    for (const auto& one : findings.all) {
      const auto& path = one.path();
      if (!takes_part(one) || !is_of(each, one) || path.is_packed || path.open == nullptr) continue;
      if (path.is_raw && !path.is_xdp) take_if_better(each.packet, one);
      if (path.name == "udp" || path.name == "udp_batch") take_if_better(each.udp, one);
    }
  }
  return all;
}

}  // namespace strata::measure
