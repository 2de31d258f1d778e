#include <algorithm>

#include "net/scheme.hpp"

namespace strata::net {

std::string bind_target::bound_text() const {
  const auto text = url.text();
  return url.is_for_one() ? text : text.substr(0, text.find("://") + 3) + address.text();
}

loop::task<result<std::vector<bind_target>>> find_bind_targets(loop::loop& loop,
                                                               std::vector<std::string> endpoints) {
  std::vector<bind_target> targets;
  for (const auto& each : endpoints) {
    const auto url = *parse_endpoint(each);
    auto found = co_await find_addresses(loop, url);
    if (!found) co_return std::unexpected(found.error());
    for (const auto& address : *found) {
      const bool known = std::ranges::any_of(targets, [&](const bind_target& target) {
        return target.address == address && target.url.scheme == url.scheme && address.port() != 0;
      });
      if (!known) targets.push_back({url, address});
    }
  }
  co_return targets;
}

result<void> probe(loop::loop& loop, const std::vector<bind_target>& targets) {
  for (const auto& each : targets) {
    if (each.url.scheme->probe == nullptr || each.address.port() == 0) continue;
    if (auto free = each.url.scheme->probe(loop, each.address); !free) return free;
  }
  return {};
}

}  // namespace strata::net
