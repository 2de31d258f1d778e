#include "runtime/bind_target.hpp"

#include <algorithm>

namespace strata::runtime {

std::string bind_target::bound_text() const {
  const auto text = url.text();
  return url.is_for_one() ? text : text.substr(0, text.find("://") + 3) + address.text();
}

loop::task<result<std::vector<bind_target>>> find_bind_targets(loop::loop& on,
                                                               std::vector<std::string> endpoints) {
  std::vector<bind_target> targets;
  for (const auto& each : endpoints) {
    const auto url = *net::parse_endpoint(each);
    if (url.kind == net::scheme::unix_stream) {
      auto address = loop::socket_address::from_path(url.path);
      if (!address) co_return std::unexpected(address.error());
      targets.push_back({url, *address});
      continue;
    }
    if (url.is_ethernet()) {
      targets.push_back({url, {}});
      continue;
    }
    auto found = co_await on.resolve(url.host, url.port);
    if (!found) co_return std::unexpected(found.error());
    for (const auto& address : *found) {
      const bool known = std::ranges::any_of(targets, [&](const bind_target& target) {
        return target.address == address && target.url.kind == url.kind && address.port() != 0;
      });
      if (!known) targets.push_back({url, address});
    }
  }
  co_return targets;
}

}  // namespace strata::runtime
