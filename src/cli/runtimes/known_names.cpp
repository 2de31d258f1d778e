// The names for shell completion: of runtimes, of groups, and of a proxy's backends.
#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/table.hpp"

namespace strata::cli {

namespace {

nlohmann::json listed_at(const std::string& target, const daemon_address& daemon) {
  auto listed = control_client(daemon).get(target);
  return listed && listed->is_array() ? std::move(*listed) : nlohmann::json::array();
}

}  // namespace

std::vector<std::string> runtime_names(const daemon_address& daemon) {
  std::vector<std::string> names;
  for (const auto& each : known_runtimes(listed_at("/v1/runtimes", daemon))) {
    names.push_back(each.name);
  }
  return names;
}

std::vector<std::string> group_names(const daemon_address& daemon) {
  std::vector<std::string> names;
  for (const auto& each : known_runtimes(listed_at("/v1/runtimes", daemon))) {
    if (!each.group.empty()) names.push_back("@" + each.group);
  }
  return names;
}

std::vector<std::string> backend_names(const std::string& proxy, const daemon_address& daemon) {
  std::vector<std::string> names;
  const auto listed = control_client(daemon).ask(proxy, "backends");
  if (!listed || !listed->is_array()) return names;
  for (const auto& each : *listed) names.push_back(text_at(each, "text"));
  return names;
}

}  // namespace strata::cli
