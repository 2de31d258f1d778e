#include "daemon/cluster/cluster_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "cluster/circles.hpp"
#include "daemon/supervisor/group_endpoints.hpp"
#include "daemon/supervisor/relations.hpp"
#include "loop/call_on.hpp"
#include "net/scheme.hpp"
#include "text/number.hpp"

namespace strata::daemon {

namespace {

// Stands before the name of a daemon, as `group_mark` stands before that of a group.
constexpr char daemon_mark = '@';
constexpr char instance_mark = '#';

/// `NAME#2@DAEMON` in its parts.
struct remote_name {
  std::string runtime;
  std::optional<std::size_t> instance;
  std::string daemon;  ///< empty: any
};

remote_name split(const std::string& name) {
  const auto mark = name.rfind(daemon_mark);
  remote_name parts{.runtime = name.substr(0, mark), .instance = {}, .daemon = {}};
  if (mark != std::string::npos) parts.daemon = name.substr(mark + 1);
  if (const auto number = parts.runtime.find(instance_mark); number != std::string::npos) {
    parts.instance = text::number_in<std::size_t>(parts.runtime.substr(number + 1)).value_or(0);
    parts.runtime.resize(number);
  }
  return parts;
}

}  // namespace

struct cluster_directory::watch_state {
  watch_state(loop::loop& asking, std::string watcher, std::string place,
              std::function<void(net::place_members)> on_members)
      : asking(asking),
        watcher(std::move(watcher)),
        place(std::move(place)),
        on_members(std::move(on_members)) {}

  loop::loop& asking;
  const std::string watcher;
  const std::string place;
  const std::function<void(net::place_members)> on_members;  // called on `asking` alone
  // On `asking`:
  std::optional<net::place_members> local;
  std::optional<net::place_members> remote;
  std::optional<net::place_members> given;
  // On the home loop:
  std::optional<net::place_members> sent;
  std::mutex lock;
  bool is_over = false;  // set on `asking` alone, under the lock

  // The first report has both: the members here alone would tell that the place has no others.
  void give() {
    if (!local || !remote || is_over) return;
    auto all = *local;
    const bool is_name = !place.starts_with(group_mark);
    // A name without a runtime here stands for those of others.
    if (is_name && *remote != net::place_members{}) all.names.clear();
    std::ranges::copy(remote->names, std::back_inserter(all.names));
    std::ranges::copy(remote->circular, std::back_inserter(all.circular));
    all.neighbours = remote->neighbours;
    if (given == all) return;
    given = all;
    on_members(std::move(all));
  }
};

class cluster_directory::joint_watch final : public watch {
 public:
  joint_watch(std::shared_ptr<watch_state> state, std::unique_ptr<watch> local)
      : state_(std::move(state)), local_(std::move(local)) {}
  joint_watch(const joint_watch&) = delete;
  joint_watch& operator=(const joint_watch&) = delete;
  ~joint_watch() override {
    const std::scoped_lock guard(state_->lock);
    state_->is_over = true;
  }

 private:
  std::shared_ptr<watch_state> state_;
  std::unique_ptr<watch> local_;
};

std::unique_ptr<net::directory::watch> cluster_directory::watch_members(
    loop::loop& asking, std::string watcher, std::string place,
    std::function<void(net::place_members)> on_members) {
  auto state = std::make_shared<watch_state>(asking, watcher, place, std::move(on_members));
  auto local = local_.watch_members(asking, std::move(watcher), std::move(place),
                                    [state](net::place_members members) {
                                      state->local = std::move(members);
                                      state->give();
                                    });
  home_.post([this, state] {
    watches_.push_back(state);
    notify(state);
  });
  return std::make_unique<joint_watch>(std::move(state), std::move(local));
}

void cluster_directory::notify(const std::shared_ptr<watch_state>& state) {
  auto remote = remote_members(state->watcher, state->place);
  if (state->sent == remote) return;
  state->sent = remote;
  // While the lock is held, the watch does not end, so its loop exists.
  const std::scoped_lock guard(state->lock);
  if (state->is_over) return;
  state->asking.post([state, remote = std::move(remote)]() mutable {
    state->remote = std::move(remote);
    state->give();
  });
}

void cluster_directory::take(const std::map<std::string, cluster::card>& cards) {
  cards_ = cards;
  std::erase_if(watches_, [](const auto& each) { return each.expired(); });
  for (const auto& each : watches_) {
    if (const auto state = each.lock()) notify(state);
  }
}

net::place_members cluster_directory::remote_members(const std::string& watcher,
                                                     const std::string& place) const {
  const auto own = watcher + daemon_mark + own_;
  const bool is_group = place.starts_with(group_mark);
  const auto wanted = split(place);
  if (!is_group && !wanted.daemon.empty()) {
    const auto runtime = wanted.runtime + daemon_mark + wanted.daemon;
    const bool is_circular = !cluster::leading_to(cards_, {runtime}, own).empty();
    if (is_circular) return {.names = {}, .circular = {place}};
    return {.names = {place}, .circular = {}, .neighbours = neighbours_in({place})};
  }
  net::place_members found;
  if (!is_group && local_.has(wanted.runtime)) return found;
  for (const auto& [daemon, card] : cards_) {
    if (daemon == own_ || card.is_drained) continue;
    for (const auto& each : card.runtimes) {
      const bool fits = is_group ? each.group == place.substr(1) : each.name == wanted.runtime;
      if (!fits || each.state != "running" || each.endpoints.empty()) continue;
      found.names.push_back(each.name + daemon_mark + daemon);
    }
  }
  found.circular = cluster::leading_to(cards_, found.names, own);
  std::erase_if(found.names, [&found](const std::string& each) {
    return std::ranges::find(found.circular, each) != found.circular.end();
  });
  found.neighbours = neighbours_in(found.names);
  return found;
}

std::vector<std::string> cluster_directory::neighbours_in(
    const std::vector<std::string>& names) const {
  std::vector<std::string> neighbours;
  if (zone_.empty()) return neighbours;
  std::ranges::copy_if(names, std::back_inserter(neighbours), [this](const std::string& name) {
    const auto card = cards_.find(split(name).daemon);
    return card != cards_.end() && card->second.zone == zone_;
  });
  return neighbours;
}

bool cluster_directory::has(const std::string& name) const {
  const auto wanted = split(name);
  return wanted.daemon == own_ ? local_.has(wanted.runtime)
                               : find(wanted.runtime, wanted.daemon) != nullptr;
}

const cluster::runtime_card* cluster_directory::find(const std::string& name,
                                                     const std::string& daemon) const {
  for (const auto& [other, card] : cards_) {
    const bool is_chosen = daemon.empty() ? !card.is_drained : other == daemon;
    if (other == own_ || !is_chosen) continue;
    const auto runtime = std::ranges::find(card.runtimes, name, &cluster::runtime_card::name);
    if (runtime != card.runtimes.end()) return &*runtime;
  }
  return nullptr;
}

result<std::vector<net::endpoint_url>> cluster_directory::remote_endpoints(
    const std::string& name) const {
  const auto operation = fmt::format("connect to runtime '{}'", name);
  const auto wanted = split(name);
  const auto* const runtime = find(wanted.runtime, wanted.daemon);
  if (runtime == nullptr) {
    return failure(errc::not_found, operation,
                   wanted.daemon.empty() || cards_.contains(wanted.daemon)
                       ? "no daemon of the cluster has a runtime of this name"
                       : fmt::format("the cluster has no daemon '{}'", wanted.daemon),
                   "'strata cluster ps' lists the runtimes of all daemons");
  }
  std::vector<net::endpoint_url> urls;
  for (const auto& each : runtime->endpoints) {
    auto url = net::parse_endpoint(each);
    if (url && !url->is_ethernet()) urls.push_back(std::move(*url));
  }
  if (runtime->state != "running" || urls.empty()) {
    return failure(
        errc::conflict, operation,
        fmt::format("it is {}, with {} endpoints that others reach", runtime->state, urls.size()),
        "start it at its daemon, or give that daemon --advertise HOST");
  }
  return urls;
}

result<std::vector<net::endpoint_url>> cluster_directory::endpoints_of_group(
    const std::string& place) {
  auto all = local_.endpoints_of_group(place.substr(1));
  std::vector<std::vector<net::endpoint_url>> near;
  std::vector<std::vector<net::endpoint_url>> far;
  const auto members = remote_members({}, place);
  for (const auto& name : members.names) {
    auto urls = remote_endpoints(name);
    const bool is_near = std::ranges::find(members.neighbours, name) != members.neighbours.end();
    if (urls) (is_near ? near : far).push_back(std::move(*urls));
  }
  ++calls_;
  std::ranges::move(in_turn(std::move(near), calls_), std::back_inserter(all));
  std::ranges::move(in_turn(std::move(far), calls_), std::back_inserter(all));
  if (all.empty()) return no_member(place);
  return all;
}

loop::task<result<std::vector<net::endpoint_url>>> cluster_directory::find_endpoints(
    loop::loop& asking, std::string name) {
  if (name.starts_with(group_mark)) {
    auto look_for_members = [this, name] { return endpoints_of_group(name); };
    co_return co_await loop::run_on(asking, home_, std::move(look_for_members));
  }
  const auto wanted = split(name);
  const bool is_own = wanted.daemon == own_;
  auto is_here = [this, runtime = wanted.runtime] { return local_.has(runtime); };
  const bool is_local =
      is_own || (wanted.daemon.empty() && co_await loop::run_on(asking, home_, is_here));
  if (is_local) {
    auto local = is_own ? name.substr(0, name.rfind(daemon_mark)) : name;
    auto found = co_await local_.find_endpoints(asking, std::move(local));
    co_return found;
  }
  auto look = [this, name] { return remote_endpoints(name); };
  auto found = co_await loop::run_on(asking, home_, std::move(look));
  co_return found;
}

}  // namespace strata::daemon
