#include "runtime/cache/engine/watched_keys.hpp"

#include <algorithm>

namespace strata::runtime::cache {

void watched_keys::watch(client& who, unsigned database, std::string_view key, bool was_expired) {
  auto& clients = keys_[{database, std::string(key)}];
  if (std::ranges::find(clients, &who) != clients.end()) return;
  clients.push_back(&who);
  attention_.set(attention::reason::watched, true);
  who.watched.push_back({database, std::string(key), was_expired});
}

void watched_keys::unwatch(client& who) {
  for (const auto& each : who.watched) {
    const auto found = keys_.find(database_key_view{each.database, each.key});
    if (found == keys_.end()) continue;
    std::erase(found->second, &who);
    if (found->second.empty()) keys_.erase(found);
  }
  who.watched.clear();
  attention_.set(attention::reason::watched, !keys_.empty());
}

void watched_keys::touch(unsigned database, std::string_view key) {
  const auto found = keys_.find(database_key_view{database, key});
  if (found != keys_.end()) fail(found->second);
}

}  // namespace strata::runtime::cache
