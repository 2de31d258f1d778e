#include "cli/daemon_client/cluster.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <nlohmann/json.hpp>

#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/terminal/table.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

std::unexpected<refusal> not_there(const json& cluster, const std::string& name) {
  if (is_label(name)) {
    return refuse(exit_not_found,
                  fmt::format("no daemon of the cluster has the label '{}'; 'strata cluster ls "
                              "--columns daemon,labels' shows all labels",
                              text::printable(name)));
  }
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

outcome<json> read_local_cluster(daemon_address daemon) {
  daemon.other.clear();
  return read_cluster(daemon);
}

outcome<daemon_address> find_in_cluster(const daemon_address& daemon) {
  auto found = daemon;
  found.other.clear();
  const auto cluster = read_local_cluster(daemon);
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

bool names_daemons(std::string_view word) { return is_glob(word) || is_label(word); }

outcome<std::vector<std::string>> select_daemons(const json& cluster, const std::string& word) {
  std::vector<std::string> names;
  for (const auto& each : cluster.at("daemons")) {
    auto name = text_at(each, "daemon");
    const bool is_selected = is_label(word) ? has_labels(labels_of(each), word)
                                            : ::fnmatch(word.c_str(), name.c_str(), 0) == 0;
    if (is_selected) names.push_back(std::move(name));
  }
  if (names.empty()) return not_there(cluster, word);
  return names;
}

}  // namespace strata::cli
