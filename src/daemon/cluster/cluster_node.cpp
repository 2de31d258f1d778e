#include "daemon/cluster/cluster_node.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "cluster/kinds/open_registry.hpp"
#include "daemon/supervisor/relations.hpp"
#include "net/scheme.hpp"
#include "runtime/options/labels.hpp"

namespace strata::daemon {

using namespace std::chrono_literals;
using nlohmann::json;

namespace {

// Changes of the runtimes in this time are told together.
constexpr loop::duration gathering = 100ms;

// What changes all the time.
cluster::card without_numbers(cluster::card card) {
  for (auto& each : card.runtimes) each.connections = 0;
  return card;
}

/// The runtimes that differ, with their states: `api running, db removed`.
std::string changes_between(const cluster::card& previous, const cluster::card& next) {
  std::string changes;
  const auto add = [&changes](const std::string& name, std::string_view state) {
    changes += fmt::format("{}{} {}", changes.empty() ? "" : ", ", name, state);
  };
  for (const auto& each : next.runtimes) {
    if (std::ranges::find(previous.runtimes, each) == previous.runtimes.end()) {
      add(each.name, each.state);
    }
  }
  if (next.is_drained != previous.is_drained) {
    add("the daemon", next.is_drained ? "is drained" : "is no longer drained");
  }
  for (const auto& each : previous.runtimes) {
    const auto same = std::ranges::find(next.runtimes, each.name, &cluster::runtime_card::name);
    if (same == next.runtimes.end()) add(each.name, "removed");
  }
  return changes;
}

std::map<std::string, std::string> labels_by_key(const std::vector<std::string>& labels) {
  std::map<std::string, std::string> keyed;
  for (const auto& label : labels) {
    const auto mark = label.find('=');
    keyed[label.substr(0, mark)] = mark == std::string::npos ? "" : label.substr(mark + 1);
  }
  return keyed;
}

std::unexpected<error> refuse(const options::daemon_options& options, std::string reason,
                              std::string advice) {
  return failure(errc::invalid_argument, fmt::format("join the cluster '{}'", options.cluster),
                 std::move(reason), std::move(advice));
}

}  // namespace

result<std::unique_ptr<cluster_node>> cluster_node::make(supervisor& supervisor,
                                                         const options::daemon_options& options) {
  if (!cluster::is_daemon_name(options.name)) {
    return refuse(options,
                  options.name.empty()
                      ? std::string("the daemon has no name")
                      : fmt::format("'{}' is not a name of a daemon", options.name),
                  "give --name with letters, digits, '.', '_' and '-'");
  }
  if (options.cluster_ttl < 1) {
    return refuse(options, "--cluster-ttl is below 1 s", "give --cluster-ttl 10s");
  }
  if (!cluster::is_zone_name(options.zone)) {
    return refuse(options, fmt::format("'{}' is not a name of a zone", options.zone),
                  "give --zone with letters, digits, '.', '_' and '-'");
  }
  if (auto checked = runtime::check_labels(options.label); !checked) {
    return std::unexpected(checked.error());
  }
  const auto ttl = loop::from_seconds(options.cluster_ttl);
  auto registry = cluster::open_registry(
      supervisor.home(),
      {.url = options.cluster,
       .ttl = ttl,
       .user = options.cluster_user,
       .password = options.cluster_password,
       .tls = {.ca = options.cluster_ca,
               .certificate = {.certificate = options.cluster_cert, .key = options.cluster_key}}});
  if (!registry) return std::unexpected(registry.error());
  settings settings{.daemon = options.name,
                    .place = options.cluster,
                    .advertise = options.advertise,
                    .zone = options.zone,
                    .labels = labels_by_key(options.label),
                    .control = options.listen,
                    .ttl = ttl};
  return std::unique_ptr<cluster_node>(
      new cluster_node(supervisor, std::move(settings), std::move(*registry)));
}

cluster_node::cluster_node(supervisor& supervisor, settings settings,
                           std::unique_ptr<cluster::registry> registry)
    : supervisor_(supervisor),
      settings_(std::move(settings)),
      registry_(std::move(registry)),
      membership_(
          supervisor.home(), *registry_, {.daemon = settings_.daemon, .ttl = settings_.ttl},
          [this] { take_cards(); },
          [](const std::string& trouble) { spdlog::warn("cluster: {}", trouble); }),
      names_(supervisor.home(), supervisor.local_names(), settings_.daemon, settings_.zone),
      changed_(supervisor.home()) {}

void cluster_node::begin() {
  events_ = supervisor_.events().follow(supervisor_.home(), [this](const auto&) { note_change(); });
  membership_.begin();
}

void cluster_node::join() {
  membership_.join(present_card());
  tasks_.spawn(keep_card());
}

std::string cluster_node::hand_over() {
  tasks_.cancel();
  return membership_.hand_over();
}

void cluster_node::take_back() {
  membership_.take_back(present_card());
  tasks_.spawn(keep_card());
}

loop::task<> cluster_node::leave(loop::time_point limit) {
  tasks_.cancel();
  events_ = {};
  co_await membership_.leave(limit);
}

void cluster_node::take_cards() {
  names_.take(membership_.cards());
  report_changes(membership_.cards());
  report_trouble();
}

void cluster_node::report_trouble() {
  const auto& trouble = membership_.trouble();
  if (trouble.empty() != is_trouble_reported_) return;
  is_trouble_reported_ = !trouble.empty();
  if (is_trouble_reported_) return supervisor_.report_daemon(settings_.daemon, "trouble", trouble);
  spdlog::info("cluster: the registry has this daemon's card again");
  supervisor_.report_daemon(settings_.daemon, "recover", "");
}

// The directory knows the changes already: who hears of an event can use it.
void cluster_node::report_changes(const std::map<std::string, cluster::card>& present) {
  auto before = std::exchange(reported_, {});
  for (const auto& [daemon, card] : present) {
    if (daemon == settings_.daemon) continue;
    const auto& now = reported_[daemon] = without_numbers(card);
    const auto known = before.find(daemon);
    if (known == before.end()) {
      supervisor_.report_daemon(
          daemon, "join", fmt::format("version {}, {} runtimes", now.version, now.runtimes.size()));
      continue;
    }
    if (known->second != now) {
      supervisor_.report_daemon(daemon, "change", changes_between(known->second, now));
    }
    before.erase(known);
  }
  for (const auto& [daemon, card] : before) supervisor_.report_daemon(daemon, "leave", "");
}

// Every write goes to all daemons. So the numbers of connections, which change all the time, are
// written with what changes besides, or so seldom that the whole cluster writes ten in a second.
loop::duration cluster_node::counting_interval() const {
  const auto crowd = std::max<std::size_t>(membership_.cards().size(), 1);
  return std::max<loop::duration>(settings_.ttl / 3, crowd * 100ms);
}

loop::task<> cluster_node::keep_card() {
  auto& home = supervisor_.home();
  auto written = present_card();
  auto due = home.now() + counting_interval();
  for (;;) {
    const auto next_look = std::min(due, home.now() + settings_.ttl / 3);
    const bool is_told = co_await changed_.wait([this] { return has_changed_; }, next_look);
    if (is_told) co_await home.sleep(gathering);
    has_changed_ = false;
    auto next = present_card();
    const bool is_due = home.now() >= due;
    if (!is_due && without_numbers(next) == without_numbers(written)) continue;
    due = home.now() + counting_interval();
    written = next;
    membership_.update(next);
  }
}

void cluster_node::note_change() {
  has_changed_ = true;
  changed_.notify();
}

void cluster_node::set_drained(bool is_drained) {
  is_drained_ = is_drained;
  note_change();
}

// Everywhere is --advertise, and this machine alone is nowhere.
std::optional<std::string> cluster_node::as_reached(const std::string& endpoint) const {
  auto url = net::parse_endpoint(endpoint);
  if (!url || url->is_ethernet() || !url->has_port()) return std::nullopt;
  const bool is_everywhere = url->is_everywhere() || url->host == "0.0.0.0" || url->host == "::";
  const bool is_loopback = url->host.starts_with("127.") || url->host == "::1";
  // With a loopback address to advertise, all daemons of the cluster are on one machine.
  const bool is_one_machine = settings_.advertise.starts_with("127.");
  if (is_everywhere && settings_.advertise.empty()) return std::nullopt;
  if (is_loopback && !is_one_machine) return std::nullopt;
  if (is_everywhere) url->host = settings_.advertise;
  return url->text();
}

std::vector<std::string> cluster_node::endpoints_of(const entry& subject) const {
  std::vector<std::string> endpoints;
  if (!subject.body->listens() || subject.state != run_state::running) return endpoints;
  for (const auto& each : subject.body->endpoints()) {
    if (auto reached = as_reached(each)) endpoints.push_back(std::move(*reached));
  }
  return endpoints;
}

cluster::card cluster_node::present_card() const {
  cluster::card card{.daemon = settings_.daemon,
                     .version = STRATA_VERSION,
                     .control = as_reached(settings_.control).value_or(""),
                     .is_drained = is_drained_,
                     .zone = settings_.zone,
                     .labels = settings_.labels};
  for (const auto& [name, each] : supervisor_.list().entries()) {
    const auto& common = each->body->common();
    cluster::runtime_card runtime{.name = name,
                                  .type = std::string(each->type->name),
                                  .state = std::string(name_of(each->state)),
                                  .group = common.group,
                                  .endpoints = endpoints_of(*each),
                                  .connections = each->body->stats().connections_now.get()};
    runtime.targets = each->body->needs();
    for (const auto& group : each->body->follows()) runtime.targets.push_back(group_mark + group);
    runtime.labels = labels_by_key(common.label);
    card.runtimes.push_back(std::move(runtime));
  }
  return card;
}

json cluster_node::report() const {
  auto daemons = json::array();
  const auto age = supervisor_.home().now() - membership_.confirmed();
  for (const auto& [daemon, card] : membership_.cards()) {
    auto runtimes = json::array();
    for (const auto& each : card.runtimes) {
      runtimes.push_back({{"name", each.name},
                          {"type", each.type},
                          {"state", each.state},
                          {"group", each.group},
                          {"endpoints", each.endpoints},
                          {"connections", each.connections},
                          {"labels", each.labels}});
    }
    daemons.push_back({{"daemon", daemon},
                       {"version", card.version},
                       {"control", card.control},
                       {"is_own", daemon == settings_.daemon},
                       {"is_drained", card.is_drained},
                       {"zone", card.zone},
                       {"labels", card.labels},
                       {"runtimes", std::move(runtimes)}});
  }
  return {{"name", settings_.daemon},
          {"registry", settings_.place},
          {"state", cluster::name_of(membership_.present_state())},
          {"trouble", membership_.trouble()},
          {"age_s", std::chrono::duration<double>(age).count()},
          {"daemons", std::move(daemons)}};
}

}  // namespace strata::daemon
