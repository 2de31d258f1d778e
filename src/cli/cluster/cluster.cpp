#include "cli/daemon_client/cluster.hpp"

#include <fmt/format.h>

#include <map>
#include <span>

#include "cli/cluster/rows.hpp"
#include "cli/daemon_client/control_client.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

constexpr column daemon_columns[] = {
    {"daemon", "/daemon"},      {"version", "/version"}, {"zone", "/zone"},
    {"runtimes", "/count"},     {"running", "/running"}, {"connections", "/connections"},
    {"drained", "/is_drained"}, {"control", "/control"}, {"labels", "/labels", unit::none, false},
};
constexpr column remote_columns[] = {
    {"daemon", "/daemon"},       {"name", "/name"},
    {"type", "/type"},           {"state", "/state"},
    {"endpoints", "/endpoints"}, {"connections", "/connections"},
    {"group", "/group"},         {"labels", "/labels", unit::none, false},
};
constexpr column group_columns[] = {
    {"group", "/group"},
    {"daemons", "/daemons"},
    {"runtimes", "/runtimes"},
    {"running", "/running"},
};

// What is shown may be old, or this daemon may be unknown to the others.
void report_doubt(const json& cluster) {
  const auto state = text_at(cluster, "state");
  if (state != "held") {
    const auto trouble = text_at(cluster, "trouble");
    complain(fmt::format("this daemon's name '{}' is {} in {}{}{}", text_at(cluster, "name"), state,
                         text_at(cluster, "registry"), trouble.empty() ? "" : ": ", trouble));
  }
  const auto age_s = cluster.value("age_s", 0.0);
  constexpr double usual_age_s = 30;
  if (age_s > usual_age_s) {
    complain(fmt::format("the registry has confirmed nothing for {}: this is the last known state",
                         text::format_duration(age_s)));
  }
}

outcome<json> look_at_cluster(const invocation& call) {
  auto cluster = read_cluster(call.daemon);
  if (cluster && !call.as_json) report_doubt(*cluster);
  return cluster;
}

bool is_running(const json& runtime) { return text_at(runtime, "state") == "running"; }

/// The daemon with the numbers of its runtimes instead of these.
json counted(const json& daemon) {
  const auto& runtimes = daemon.at("runtimes");
  std::uint64_t running = 0;
  std::uint64_t connections = 0;
  for (const auto& each : runtimes) {
    running += is_running(each) ? 1 : 0;
    connections += count_at(each, "connections");
  }
  auto row = daemon;
  row.erase("runtimes");
  row["name"] = daemon.at("daemon");
  row["count"] = runtimes.size();
  row["running"] = running;
  row["connections"] = connections;
  return row;
}

/// The runtimes of all daemons, each with its daemon.
json runtimes_of(const json& cluster) {
  auto rows = json::array();
  for (const auto& daemon : cluster.at("daemons")) {
    for (auto each : daemon.at("runtimes")) {
      each["daemon"] = daemon.at("daemon");
      rows.push_back(std::move(each));
    }
  }
  return rows;
}

/// The groups, with the numbers of their members.
json groups_of(const json& cluster) {
  std::map<std::string, json> groups;
  for (const auto& each : runtimes_of(cluster)) {
    const auto name = text_at(each, "group");
    if (name.empty()) continue;
    auto [group, is_new] = groups.try_emplace(name);
    if (is_new) group->second = {{"name", name}, {"group", name}, {"runtimes", 0}, {"running", 0}};
    auto& daemons = group->second["daemons"];
    if (daemons.empty() || daemons.back() != each.at("daemon")) {
      daemons.push_back(each.at("daemon"));
    }
    group->second["runtimes"] = count_at(group->second, "runtimes") + 1;
    group->second["running"] = count_at(group->second, "running") + (is_running(each) ? 1 : 0);
  }
  auto rows = json::array();
  for (auto& [name, group] : groups) rows.push_back(std::move(group));
  return rows;
}

outcome<int> show_rows(const invocation& call, std::span<const column> columns, const json& rows) {
  const auto shown = select_columns(columns, call.text("columns"));
  if (!shown) return std::unexpected(shown.error());
  show_list(call, *shown, rows);
  return exit_done;
}

unit unit_of(std::string_view field, const json& /*object*/) {
  return field == "age_s" ? unit::seconds : unit::none;
}

void show_object(const invocation& call, const json& object) {
  if (call.as_json) return print_json(object);
  print(render_object(object, unit_of, form_of_object(call)));
}

option_rows drain_flags() {
  return {{.key = "end",
           .kind = options::option_kind::flag,
           .help = "let the others choose them again"}};
}

}  // namespace

outcome<int> run_cluster_ls(const invocation& call) {
  const auto cluster = look_at_cluster(call);
  if (!cluster) return std::unexpected(cluster.error());
  auto rows = json::array();
  for (const auto& daemon : cluster->at("daemons")) rows.push_back(counted(daemon));
  return show_rows(call, daemon_columns, rows);
}

outcome<int> run_cluster_ps(const invocation& call) {
  const auto cluster = look_at_cluster(call);
  if (!cluster) return std::unexpected(cluster.error());
  return show_rows(call, remote_columns, runtimes_of(*cluster));
}

outcome<int> run_cluster_group(const invocation& call) {
  const auto cluster = look_at_cluster(call);
  if (!cluster) return std::unexpected(cluster.error());
  if (call.words.empty()) return show_rows(call, group_columns, groups_of(*cluster));
  const auto name = call.words[0].substr(call.words[0].starts_with('@') ? 1 : 0);
  auto rows = json::array();
  for (auto& each : runtimes_of(*cluster)) {
    if (text_at(each, "group") == name) rows.push_back(std::move(each));
  }
  if (rows.empty()) {
    return refuse(exit_not_found,
                  fmt::format("no runtime of the cluster is in the group '{}'; 'strata cluster "
                              "group' lists the groups",
                              text::printable(name)));
  }
  return show_rows(call, remote_columns, rows);
}

outcome<int> run_cluster_show(const invocation& call) {
  const auto cluster = look_at_cluster(call);
  if (!cluster) return std::unexpected(cluster.error());
  const auto name = call.words.empty() ? text_at(*cluster, "name") : call.words[0];
  for (const auto& daemon : cluster->at("daemons")) {
    if (text_at(daemon, "daemon") != name) continue;
    if (call.as_json) {
      print_json(daemon);
      return exit_done;
    }
    print(render_object(counted(daemon), unit_of, form_of_object(call)) + "\n" +
          render_table(remote_columns, runtimes_of({{"daemons", json::array({daemon})}}),
                       form_of_list(call)));
    return exit_done;
  }
  return refuse(exit_not_found,
                fmt::format("the cluster has no daemon '{}'; 'strata cluster ls' lists them",
                            text::printable(name)));
}

outcome<int> run_cluster_stats(const invocation& call) {
  const auto cluster = look_at_cluster(call);
  if (!cluster) return std::unexpected(cluster.error());
  json sums = {{"name", cluster->at("name")},   {"registry", cluster->at("registry")},
               {"state", cluster->at("state")}, {"trouble", text_at(*cluster, "trouble")},
               {"age_s", cluster->at("age_s")}, {"daemons", cluster->at("daemons").size()}};
  std::uint64_t runtimes = 0;
  std::uint64_t running = 0;
  std::uint64_t connections = 0;
  for (const auto& daemon : cluster->at("daemons")) {
    const auto row = counted(daemon);
    runtimes += count_at(row, "count");
    running += count_at(row, "running");
    connections += count_at(row, "connections");
  }
  sums["runtimes"] = runtimes;
  sums["running"] = running;
  sums["connections"] = connections;
  show_object(call, sums);
  return exit_done;
}

outcome<int> run_cluster_watch(const invocation& call) {
  auto followed = call;
  followed.flags["follow"] = true;
  return show_events(followed, "daemon");
}

outcome<int> run_cluster_drain(const invocation& call) {
  constexpr auto target = "/v1/cluster/drain";
  control_client client(call.daemon);
  const auto cluster = call.is_set("end") ? client.remove(target) : client.post(target);
  if (!cluster) return std::unexpected(cluster.error());
  if (call.as_json) print_json(*cluster);
  return exit_done;
}

std::vector<verb_row> cluster_verbs() {
  using enum verb_group;
  return {
      {"cluster ls", "", look, "list the daemons of the cluster", 0, 0, run_cluster_ls,
       table_flags()},
      {"cluster ps", "", look, "list the runtimes of all daemons of the cluster", 0, 0,
       run_cluster_ps, table_flags()},
      {"cluster group", "[GROUP]", look,
       "list the groups of the cluster, or the members of one on all daemons", 0, 1,
       run_cluster_group, table_flags()},
      {"cluster show",
       "[DAEMON]",
       look,
       "show a daemon of the cluster, or this one",
       0,
       1,
       run_cluster_show,
       {no_header_row()}},
      {"cluster stats",
       "",
       look,
       "show the sums of the whole cluster",
       0,
       0,
       run_cluster_stats,
       {no_header_row()}},
      {"cluster watch", "", look, "show the daemons that join, change and leave, as it happens", 0,
       0, run_cluster_watch, stream_flags()},
      {"cluster drain", "", verb_group::system,
       "make the other daemons choose no runtime of this one, which all keep running", 0, 0,
       run_cluster_drain, drain_flags()},
  };
}

}  // namespace strata::cli
