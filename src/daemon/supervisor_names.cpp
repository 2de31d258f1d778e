// Where runtimes are that others connect to by name.
#include "daemon/supervisor.hpp"
#include "loop/call_on.hpp"
#include "net/scheme.hpp"

namespace strata::daemon {

namespace {

// A wildcard is where it listens, but nowhere to connect to.
net::endpoint_url reachable(net::endpoint_url url) {
  if (url.host == "0.0.0.0" || url.is_everywhere()) url.host = "127.0.0.1";
  if (url.host == "::") url.host = "::1";
  return url;
}

}  // namespace

loop::task<result<std::vector<net::endpoint_url>>> supervisor::find_endpoints(loop::loop& asking,
                                                                              std::string name) {
  auto look = [this, name] { return endpoints_of(name); };
  co_return co_await loop::run_on(asking, home_, std::move(look));
}

loop::task<std::vector<std::string>> supervisor::find_members(loop::loop& asking,
                                                              std::string group) {
  auto look = [this, group] { return members_of(group); };
  co_return co_await loop::run_on(asking, home_, std::move(look));
}

std::vector<std::string> supervisor::members_of(const std::string& group) const {
  std::vector<std::string> names;
  for (const auto& [name, each] : entries_) {
    if (each->body->common().group == group && endpoints_of(name)) names.push_back(name);
  }
  return names;
}

result<std::vector<net::endpoint_url>> supervisor::endpoints_of(const std::string& name) const {
  const auto operation = "connect to runtime '" + name + "'";
  const auto found = find(name);
  if (!found) {
    return failure(errc::not_found, operation, "there is none of that name", "create it");
  }
  const auto& [state, body] = std::tie((*found)->state, (*found)->body);
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

}  // namespace strata::daemon
