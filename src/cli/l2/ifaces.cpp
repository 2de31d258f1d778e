// strata l2 ifaces
#include <nlohmann/json.hpp>

#include "cli/l2/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "strata/l2/interface.hpp"

namespace strata::cli {

using nlohmann::json;

outcome<int> run_l2_ifaces(const invocation& call) {
  static constexpr column columns[] = {
      {"name", "/name"},
      {"mac", "/mac"},
      {"mtu", "/mtu"},
      {"state", "/state"},
      {"rx_queues", "/rx_queues"},
      {"tx_queues", "/tx_queues"},
      {"loopback", "/loopback"},
      {"index", "/index", unit::none, false},
  };
  const auto listed = l2::interface::list();
  if (!listed) return refuse(exit_failed, listed.error());
  auto objects = json::array();
  for (const auto& each : *listed) {
    const auto* const state = each.is_running() ? "running" : each.is_up() ? "no carrier" : "down";
    objects.push_back({{"name", each.name},
                       {"index", each.index},
                       {"mac", each.mac.text()},
                       {"mtu", each.mtu},
                       {"state", state},
                       {"loopback", each.is_loopback()},
                       {"rx_queues", each.rx_queues},
                       {"tx_queues", each.tx_queues}});
  }
  show_list(call, columns, objects);
  return exit_done;
}

std::vector<std::string> interface_names() {
  std::vector<std::string> names;
  const auto listed = l2::interface::list();
  if (!listed) return names;
  for (const auto& each : *listed) names.push_back(each.name);
  return names;
}

}  // namespace strata::cli
