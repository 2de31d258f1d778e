// strata xdp stats
#include <nlohmann/json.hpp>

#include "cli/terminal/listing.hpp"
#include "cli/xdp/flags.hpp"
#include "cli/xdp/rows.hpp"
#include "strata/l2/interface.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

outcome<json> describe_link(const l2::interface& link) {
  const auto there = xdp::attached_to(link.name);
  if (!there) return refuse(exit_failed, there.error());
  json object{{"name", link.name},
              {"mtu", link.mtu},
              {"rx_queues", link.rx_queues},
              {"tx_queues", link.tx_queues},
              {"program", nullptr},
              {"id", nullptr},
              {"mode", nullptr}};
  if (!*there) return object;
  object["program"] = (*there)->name;
  object["id"] = (*there)->id;
  object["mode"] = (*there)->mode == xdp::attach_mode::native    ? "native"
                   : (*there)->mode == xdp::attach_mode::generic ? "generic"
                                                                 : "offloaded";
  return object;
}

}  // namespace

outcome<int> run_xdp_stats(const invocation& call) {
  static constexpr column columns[] = {
      {"name", "/name"},           {"program", "/program"}, {"id", "/id"},
      {"mode", "/mode"},           {"mtu", "/mtu"},         {"rx_queues", "/rx_queues"},
      {"tx_queues", "/tx_queues"},
  };
  std::vector<l2::interface> links;
  if (call.words.empty()) {
    auto all = l2::interface::list();
    if (!all) return refuse(exit_failed, all.error());
    links = std::move(*all);
  } else {
    auto one = l2::interface::query(call.words[0]);
    if (!one) return refuse_open(one.error());
    links.push_back(std::move(*one));
  }
  auto objects = json::array();
  for (const auto& each : links) {
    auto object = describe_link(each);
    if (!object) return std::unexpected(object.error());
    objects.push_back(std::move(*object));
  }
  show_list(call, columns, objects);
  return exit_done;
}

}  // namespace strata::cli
