#include "xdp/rule_table.hpp"

#include <algorithm>

namespace strata::xdp {

static_assert(rule_table::most_queues <= 64, "a rule's queues are the bits of one word");

std::expected<rule_table::place, rule_table::refusal> rule_table::take(const filter& filter,
                                                                       std::uint32_t queue) {
  if (queue >= most_queues) return std::unexpected(refusal::queue_too_high);
  const auto bit = std::uint64_t{1} << queue;
  auto* found = std::ranges::find_if(
      entries_, [&](const entry& one) { return one.queues != 0 && one.which == filter; });
  if (found != entries_.end() && (found->queues & bit) != 0) {
    return std::unexpected(refusal::taken);
  }
  const bool is_new = found == entries_.end();
  if (is_new) found = std::ranges::find(entries_, 0U, &entry::queues);
  if (found == entries_.end()) return std::unexpected(refusal::full);
  found->which = filter;
  found->queues |= bit;
  return place{.rule = static_cast<std::uint32_t>(found - entries_.begin()), .is_new = is_new};
}

bool rule_table::leave(std::uint32_t rule, std::uint32_t queue) {
  entries_[rule].queues &= ~(std::uint64_t{1} << queue);
  return entries_[rule].queues == 0;
}

strata_rules rule_table::written() const {
  strata_rules all{};
  for (std::uint32_t i = 0; i < most_rules; ++i) {
    const auto& each = entries_[i];
    if (each.queues == 0) continue;
    auto& rule = all.rules[i];
    rule.flags = strata_rule_active;
    if (each.which.ethertype) {
      rule.flags |= strata_rule_ethertype;
      rule.ethertype = *each.which.ethertype;
    }
    if (each.which.vlan_id) {
      rule.flags |= strata_rule_vlan;
      rule.vlan_id = *each.which.vlan_id;
    }
    if (each.which.destination) {
      rule.flags |= strata_rule_destination;
      std::ranges::copy(each.which.destination->octets(), rule.destination);
    }
    if (each.which.udp_port) {
      rule.flags |= strata_rule_udp_port;
      rule.udp_port = *each.which.udp_port;
    }
    all.count = i + 1;
  }
  return all;
}

}  // namespace strata::xdp
