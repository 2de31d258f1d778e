#include "cli/daemon_client/cluster.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <nlohmann/json.hpp>

#include "cli/daemon_client/control_client.hpp"
#include "cli/terminal/table.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

std::unexpected<refusal> not_there(const json& cluster, const std::string& name) {
  std::string names;
  for (const auto& each : cluster.at("daemons")) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", text_at(each, "daemon"));
  }
  return refuse(exit_not_found, fmt::format("the cluster has no daemon '{}', but {}",
                                            text::printable(name), text::printable(names)));
}

}  // namespace

outcome<json> read_cluster(const daemon_address& daemon) {
  control_client client(daemon);
  auto cluster = client.get("/v1/cluster");
  if (!cluster) return cluster;
  if (!cluster->is_object() || !cluster->value("daemons", json()).is_array()) {
    return refuse(exit_failed, "unexpected answer from the daemon: not a cluster");
  }
  return cluster;
}

outcome<daemon_address> find_in_cluster(const daemon_address& daemon) {
  auto found = daemon;
  found.other.clear();
  const auto cluster = read_cluster(found);
  if (!cluster) return std::unexpected(cluster.error());
  for (const auto& each : cluster->at("daemons")) {
    if (text_at(each, "daemon") != daemon.other) continue;
    if (each.value("is_own", false)) return found;
    found.socket = text_at(each, "control");
    found.is_found = true;
    if (!found.socket.empty()) return found;
    return refuse(exit_failed,
                  fmt::format("the daemon '{}' is not controlled from elsewhere: start it with "
                              "--listen https://HOST:PORT and --client-ca FILE",
                              daemon.other));
  }
  return not_there(*cluster, daemon.other);
}

outcome<std::vector<std::string>> daemons_of_glob(const daemon_address& daemon,
                                                  const std::string& glob) {
  auto asked = daemon;
  asked.other.clear();
  const auto cluster = read_cluster(asked);
  if (!cluster) return std::unexpected(cluster.error());
  std::vector<std::string> names;
  for (const auto& each : cluster->at("daemons")) {
    auto name = text_at(each, "daemon");
    if (::fnmatch(glob.c_str(), name.c_str(), 0) == 0) names.push_back(std::move(name));
  }
  if (names.empty()) return not_there(*cluster, glob);
  return names;
}

}  // namespace strata::cli
