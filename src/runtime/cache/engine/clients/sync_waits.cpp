#include "runtime/cache/engine/clients/sync_waits.hpp"

#include <algorithm>

#include "runtime/cache/engine/front.hpp"
#include "runtime/cache/engine/persistence.hpp"
#include "runtime/cache/engine/replication.hpp"

namespace strata::runtime::cache {

sync_waits::counts sync_waits::count(const front& front, const wait& wait) {
  counts counts;
  if (const auto* const persistence = front.persisted_by()) {
    const auto figures = persistence->figures();
    counts.log = figures.has_log && figures.log_synced >= wait.position;
  }
  if (const auto* const replication = front.replicated_by()) {
    counts.followers = replication->count_synced_followers(wait.offset);
  }
  return counts;
}

void sync_waits::reply(client& client, const counts& counts) {
  client.reply().array(2);
  client.reply().integer(counts.log ? 1 : 0);
  client.reply().integer(static_cast<std::int64_t>(counts.followers));
}

void sync_waits::give_up(front& front, client& client) {
  const auto found = std::ranges::find(waits_, client.id, &wait::client_id);
  reply(client, found == waits_.end() ? counts{} : count(front, *found));
  if (found != waits_.end()) waits_.erase(found);
}

void sync_waits::check(front& front) {
  if (waits_.empty()) return;
  // A client may begin another wait as soon as it has its reply.
  const auto pending = std::exchange(waits_, {});
  for (const auto& each : pending) {
    const auto synced = count(front, each);
    if (!is_over(each, synced)) {
      waits_.push_back(each);
      continue;
    }
    front.answer(each.client_id, [&](client& client) { reply(client, synced); });
  }
}

}  // namespace strata::runtime::cache
