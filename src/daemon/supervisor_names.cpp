// Runtimes that connect to others by name: where these are, and what is started before what.
#include <algorithm>
#include <set>

#include "daemon/registry.hpp"
#include "loop/call_on.hpp"
#include "net/scheme.hpp"

namespace strata::daemon {

namespace {

// A wildcard is where it listens, but nowhere to connect to.
net::endpoint_url reachable(net::endpoint_url url) {
  if (url.host == "0.0.0.0") url.host = "127.0.0.1";
  if (url.host == "::") url.host = "::1";
  return url;
}

}  // namespace

loop::task<result<std::vector<net::endpoint_url>>> registry::find_endpoints(loop::loop& asking,
                                                                            std::string name) {
  // `call_on` keeps the closure until its coroutine has ended.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-capturing-lambda-coroutines)
  auto look = [this, name]() -> loop::task<result<std::vector<net::endpoint_url>>> {
    co_return endpoints_of(name);
  };
  co_return co_await loop::call_on(asking, home_, std::move(look));
}

result<std::vector<net::endpoint_url>> registry::endpoints_of(const std::string& name) const {
  const auto operation = "connect to runtime '" + name + "'";
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    return failure(errc::not_found, operation, "there is none of that name", "create it");
  }
  const auto& [state, body] = std::tie(found->second->state, found->second->body);
  if (state != run_state::running) {
    return failure(errc::conflict, operation, "it is " + std::string(name_of(state)),
                   "start it: strata start " + name);
  }
  std::vector<net::endpoint_url> urls;
  for (const auto& each : body->endpoints()) {
    auto url = net::parse_endpoint(each);
    if (url && !url->is_ethernet()) urls.push_back(reachable(std::move(*url)));
  }
  if (!body->listens() || urls.empty()) {
    return failure(errc::conflict, operation, "it has no address that it listens on",
                   "connect to a server or a cache with tcp, udp or unix");
  }
  return urls;
}

result<void> registry::check_needs(const std::string& name, const runtime::runtime& body) const {
  std::set<std::string> seen;
  auto open = body.needs();
  while (!open.empty()) {
    const auto next = open.back();
    open.pop_back();
    if (next == name) {
      return failure(errc::conflict,
                     "make '" + name + "' connect to '" + body.needs().front() + "'",
                     "it would wait for itself", "connect to another runtime");
    }
    const auto found = entries_.find(next);
    if (found == entries_.end() || !seen.insert(next).second) continue;
    for (auto& each : found->second->body->needs()) open.push_back(std::move(each));
  }
  return {};
}

std::vector<std::string> registry::running_that_need(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& [other, each] : entries_) {
    const auto needs = each->body->needs();
    const bool does =
        each->state == run_state::running && std::ranges::find(needs, name) != needs.end();
    if (does) names.push_back(other);
  }
  return names;
}

std::vector<registry::rank> registry::by_needs() const {
  std::vector<rank> ranks;
  std::set<std::string> placed;
  while (placed.size() < entries_.size()) {
    rank next;
    for (const auto& [name, each] : entries_) {
      const auto waits = [&](const std::string& needed) {
        return entries_.contains(needed) && !placed.contains(needed);
      };
      if (!placed.contains(name) && std::ranges::none_of(each->body->needs(), waits)) {
        next.push_back(each);
      }
    }
    // Files of a state folder that were changed by hand may need each other.
    if (next.empty()) {
      for (const auto& [name, each] : entries_) {
        if (!placed.contains(name)) next.push_back(each);
      }
    }
    for (const auto& each : next) placed.insert(each->name);
    ranks.push_back(std::move(next));
  }
  return ranks;
}

}  // namespace strata::daemon
