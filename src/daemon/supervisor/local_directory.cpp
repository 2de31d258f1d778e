#include "daemon/supervisor/local_directory.hpp"

#include <algorithm>
#include <tuple>

#include "loop/call_on.hpp"
#include "net/scheme.hpp"
#include "text/nearest.hpp"

namespace strata::daemon {

namespace {

// A wildcard can be listened on, but not connected to.
net::endpoint_url reachable(net::endpoint_url url) {
  if (url.host == "0.0.0.0" || url.is_everywhere()) url.host = "127.0.0.1";
  if (url.host == "::") url.host = "::1";
  return url;
}

}  // namespace

loop::task<result<std::vector<net::endpoint_url>>> local_directory::find_endpoints(
    loop::loop& asking, std::string name) {
  auto look = [this, name] { return endpoints_of(name); };
  co_return co_await loop::run_on(asking, home_, std::move(look));
}

loop::task<net::group_members> local_directory::find_members(loop::loop& asking, std::string whose,
                                                             std::string group) {
  auto look = [this, whose, group] { return members_for(whose, group); };
  co_return co_await loop::run_on(asking, home_, std::move(look));
}

net::group_members local_directory::members_for(const std::string& whose,
                                                const std::string& group) {
  net::group_members found;
  for (const auto& [name, each] : list_.entries()) {
    if (name == whose || each->body->common().group != group) continue;
    if (endpoints_of(name)) found.names.push_back(name);
  }
  found.circular = leading_to(list_.entries(), told_, found.names, whose);
  std::erase_if(found.names, [&found](const std::string& each) {
    return std::ranges::find(found.circular, each) != found.circular.end();
  });
  std::erase_if(told_,
                [this](const auto& each) { return !list_.entries().contains(each.first.first); });
  told_[{whose, group}] = found.names;
  return found;
}

result<std::vector<net::endpoint_url>> local_directory::endpoints_of(
    const std::string& name) const {
  const auto operation = "connect to runtime '" + name + "'";
  const auto found = list_.find(name);
  if (!found) {
    return failure(errc::not_found, operation,
                   "no runtime has this name" + text::did_you_mean(name, list_.known_names()),
                   "create it first");
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
    return failure(errc::conflict, operation, "it listens on no address",
                   "connect to a server or a cache with tcp, udp or unix");
  }
  return urls;
}

}  // namespace strata::daemon
