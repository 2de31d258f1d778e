#include "runtime/cache/engine/clients/watched_keys.hpp"

#include <algorithm>

namespace strata::runtime::cache {

void watched_keys::watch(client& client, unsigned database, std::string_view key,
                         bool was_expired) {
  auto& clients = keys_[{database, std::string(key)}];
  if (std::ranges::find(clients, &client) != clients.end()) return;
  clients.push_back(&client);
  attention_.set(attention::reason::watched, true);
  client.watched.push_back({database, std::string(key), was_expired});
}

void watched_keys::unwatch(client& client) {
  for (const auto& each : client.watched) {
    const auto found = keys_.find(database_key_view{each.database, each.key});
    if (found == keys_.end()) continue;
    std::erase(found->second, &client);
    if (found->second.empty()) keys_.erase(found);
  }
  client.watched.clear();
  attention_.set(attention::reason::watched, !keys_.empty());
}

// The removal of a key that had already expired when the watch began is not a change of the data.
void watched_keys::touch(unsigned database, std::string_view key, bool is_there) {
  const auto found = keys_.find(database_key_view{database, key});
  if (found == keys_.end()) return;
  const auto after = is_there ? presence::present : presence::absent;
  replace(found->first, found->second, presence::present, after);
}

void watched_keys::replace(const database_key& key, const std::vector<client*>& clients,
                           presence before, presence after) {
  if (before == presence::absent && after == presence::absent) return;
  for (auto* each : clients) {
    const auto found = std::ranges::find_if(each->watched, [&](const watched_key& watched) {
      return watched.database == key.database && watched.key == key.key;
    });
    if (found == each->watched.end()) continue;
    if (found->was_expired && after != presence::present) {
      found->was_expired = after == presence::expired;
    } else if (before == presence::absent && after == presence::expired) {
      found->was_expired = true;
    } else {
      each->watch_failed = true;
    }
  }
}

}  // namespace strata::runtime::cache
