#include "daemon/supervisor/local_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "daemon/supervisor/group_endpoints.hpp"
#include "loop/call_on.hpp"
#include "net/scheme.hpp"
#include "text/nearest.hpp"
#include "text/number.hpp"

namespace strata::daemon {

namespace {

using namespace std::chrono_literals;

// Between two passes over the watches, so that a daemon that starts a thousand runtimes does not
// compute the members of all groups a thousand times.
constexpr loop::duration refresh_interval = 100ms;

// Stands before the number of an instance. No runtime's name has this character.
constexpr char instance_mark = '#';

// A wildcard can be listened on, but not connected to.
net::endpoint_url reachable(net::endpoint_url url) {
  if (url.host == "0.0.0.0" || url.is_everywhere()) url.host = "127.0.0.1";
  if (url.host == "::") url.host = "::1";
  return url;
}

}  // namespace

loop::task<result<std::vector<net::endpoint_url>>> local_directory::find_endpoints(
    loop::loop& asking, std::string name) {
  auto look = [this, name]() -> result<std::vector<net::endpoint_url>> {
    if (!name.starts_with(group_mark)) return endpoints_of(name);
    auto found = endpoints_of_group(name.substr(1));
    if (found.empty()) return no_member(name);
    return found;
  };
  co_return co_await loop::run_on(asking, home_, std::move(look));
}

std::vector<net::endpoint_url> local_directory::endpoints_of_group(const std::string& group) {
  std::vector<std::vector<net::endpoint_url>> members;
  for (const auto& [name, each] : list_.entries()) {
    if (each->body->common().group != group) continue;
    for (const auto& instance : instances_of(name)) {
      if (auto urls = endpoints_of(instance)) members.push_back(std::move(*urls));
    }
  }
  return in_turn(std::move(members), calls_++);
}

// The watch belongs to its loop's thread, and the rest of its state, but for the lock, to that of
// the home loop.
struct local_directory::watch_state {
  watch_state(loop::loop& asking, std::string watcher, std::string place,
              std::function<void(net::place_members)> on_members)
      : asking(asking),
        watcher(std::move(watcher)),
        place(std::move(place)),
        on_members(std::move(on_members)) {}

  loop::loop& asking;  // may be destroyed once the watch is
  const std::string watcher;
  const std::string place;
  const std::function<void(net::place_members)> on_members;  // called on `asking` alone
  std::optional<net::place_members> given;
  std::mutex lock;
  bool is_over = false;  // set on `asking` alone, under the lock
};

class local_directory::place_watch final : public watch {
 public:
  explicit place_watch(std::shared_ptr<watch_state> state) : state_(std::move(state)) {}
  place_watch(const place_watch&) = delete;
  place_watch& operator=(const place_watch&) = delete;
  ~place_watch() override {
    const std::scoped_lock guard(state_->lock);
    state_->is_over = true;
  }

 private:
  std::shared_ptr<watch_state> state_;
};

std::unique_ptr<net::directory::watch> local_directory::watch_members(
    loop::loop& asking, std::string watcher, std::string place,
    std::function<void(net::place_members)> on_members) {
  auto state = std::make_shared<watch_state>(asking, std::move(watcher), std::move(place),
                                             std::move(on_members));
  home_.post([this, state] { add(state); });
  return std::make_unique<place_watch>(std::move(state));
}

void local_directory::add(const std::shared_ptr<watch_state>& state) {
  watches_.push_back(state);
  if (notify(state)) refresh();
}

void local_directory::refresh() {
  has_changed_ = true;
  if (is_refreshing_ || watches_.empty()) return;
  is_refreshing_ = true;
  tasks_.spawn(notify_watches());
}

loop::task<> local_directory::notify_watches() {
  // Yields first: the caller may have more to change.
  co_await home_.sleep(loop::duration::zero());
  while (std::exchange(has_changed_, false)) {
    forget_ended();
    for (const auto& each : watches_) {
      const auto state = each.lock();
      // A member that one watch has lost no longer leads back to the watchers before it.
      if (state && notify(state)) has_changed_ = true;
    }
    co_await home_.sleep(refresh_interval);
  }
  is_refreshing_ = false;
}

void local_directory::forget_ended() {
  std::erase_if(watches_, [](const auto& each) { return each.expired(); });
  given_.clear();
  for (const auto& each : watches_) {
    const auto state = each.lock();
    if (state && state->given) given_[{state->watcher, state->place}] = state->given->names;
  }
}

bool local_directory::notify(const std::shared_ptr<watch_state>& state) {
  auto members = members_for(*state);
  if (state->given == members) return false;
  state->given = members;
  given_[{state->watcher, state->place}] = members.names;
  // While the lock is held, the watch does not end, so its loop exists.
  const std::scoped_lock guard(state->lock);
  if (state->is_over) return true;
  state->asking.post([state, members = std::move(members)]() mutable {
    if (!state->is_over) state->on_members(std::move(members));
  });
  return true;
}

net::place_members local_directory::members_for(const watch_state& state) const {
  if (state.place.starts_with(group_mark)) {
    return members_of_group(state.watcher, state.place.substr(1));
  }
  return {.names = instances_of(state.place), .circular = {}};
}

net::place_members local_directory::members_of_group(const std::string& watcher,
                                                     const std::string& group) const {
  net::place_members found;
  for (const auto& [name, each] : list_.entries()) {
    if (name == watcher || each->body->common().group != group || !endpoints_of(name)) continue;
    std::ranges::move(instances_of(name), std::back_inserter(found.names));
  }
  found.circular = leading_to(list_.entries(), given_, found.names, watcher);
  std::erase_if(found.names, [&found](const std::string& each) {
    return std::ranges::find(found.circular, each) != found.circular.end();
  });
  return found;
}

std::vector<std::string> local_directory::instances_of(const std::string& name) const {
  const auto found = list_.find(name);
  const auto place = found ? (*found)->place() : std::nullopt;
  if (!place || place->endpoints.size() < 2) return {name};
  const auto& open = place->open_instances;
  if (!open || open->empty()) return {name};
  std::vector<std::string> names;
  for (const auto number : *open) {
    names.push_back(fmt::format("{}{}{}", name, instance_mark, number));
  }
  return names;
}

result<std::vector<net::endpoint_url>> local_directory::endpoints_of(
    const std::string& place) const {
  const auto operation = "connect to runtime '" + place + "'";
  const auto mark = place.find(instance_mark);
  const auto name = place.substr(0, mark);
  const auto found = list_.find(name);
  if (!found) {
    return failure(errc::not_found, operation,
                   "no runtime has this name" + text::did_you_mean(name, list_.known_names()),
                   "create it first");
  }
  const auto served = (*found)->place();
  if (!served) {
    return failure(errc::conflict, operation, "it is " + std::string(name_of((*found)->state)),
                   "start it: strata start " + name);
  }
  std::vector<net::endpoint_url> urls;
  for (const auto& each : served->endpoints) {
    auto url = net::parse_endpoint(each);
    if (url && !url->is_ethernet()) urls.push_back(reachable(std::move(*url)));
  }
  if (!(*found)->body->listens() || urls.empty()) {
    return failure(errc::conflict, operation, "it listens on no address",
                   "connect to a server or a cache with tcp, udp or unix");
  }
  if (mark == std::string::npos) return urls;
  const auto number = text::number_in<std::size_t>(place.substr(mark + 1)).value_or(0);
  if (number == 0 || number > urls.size()) {
    return failure(errc::not_found, operation,
                   fmt::format("it has {} instances, with the numbers from 1 on", urls.size()),
                   "connect to one of them, or to the runtime");
  }
  return std::vector{urls[number - 1]};
}

}  // namespace strata::daemon
