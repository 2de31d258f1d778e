// The part of the keyspace that removes keys: expired ones, and those evicted when memory is short.
#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "runtime/cache/engine/access.hpp"
#include "runtime/cache/engine/keyspace.hpp"

namespace strata::runtime::cache {

namespace {

// Returns the priority of a key for eviction: higher means sooner.
std::uint64_t badness(const keyspace_limits& limits, const entry& entry, std::int64_t now_ms) {
  if (limits.policy == eviction::volatile_ttl) {
    return UINT64_MAX - static_cast<std::uint64_t>(entry.expires_at_ms());
  }
  if (is_lfu(limits.policy)) return 255 - use_frequency(limits, entry.access(), now_ms);
  return static_cast<std::uint64_t>(idle_seconds(entry.access(), now_ms));
}

}  // namespace

entry* keyspace::unless_expired(unsigned index, entry* entry, std::uint64_t hash) {
  if (entry->expires_at_ms() > now_ms_ || changes_.is_replayed()) return entry;
  // The leader will send the removal.
  if (expires_by_leader_) return nullptr;
  ++counters_.expired;
  let_go(index, entry, hash, event_expired, "expired");
  return nullptr;
}

// Removes a key without a command, and propagates that to the listeners.
void keyspace::let_go(unsigned index, entry* entry, std::uint64_t hash, event_class why,
                      std::string_view event) {
  const std::array<std::string_view, 2> words = {"DEL", entry->key()};
  changes_.propagate_removal(index, words, why);
  remove(index, entry, hash, why, event);
}

bool keyspace::tidy(loop::duration budget, bool may_expire) {
  const charging scope(memory_);
  peak_memory_ = std::max(peak_memory_, memory_);
  const auto deadline_us =
      clock_.steady_us() + std::chrono::duration_cast<std::chrono::microseconds>(budget).count();
  // The databases take turns, though one may use up a tick's whole time.
  const bool expires = may_expire && expires_actively_ && !expires_by_leader_;
  for (unsigned i = 0; i < database_count && expires; ++i) {
    const auto index = expiry_database_++ % database_count;
    if (!expire_some(index, deadline_us) || !expire_fields(index, deadline_us)) return false;
  }
  if (expires) estimate_expired();
  while (!graveyard_.empty()) {
    counters_.freed_later += graveyard_.free_some();
    if (clock_.steady_us() >= deadline_us) return false;
  }
  if (!limits_.active_rehashing) return true;
  for (auto& each : databases_) {
    while (each.advance(64)) {
      if (clock_.steady_us() >= deadline_us) return false;
    }
  }
  return true;
}

// As Redis: a twentieth of the estimate is the part of the keys that were checked since the last.
void keyspace::estimate_expired() {
  const auto checked = std::exchange(checked_for_expiry_, 0);
  const auto expired = std::exchange(found_expired_, 0);
  const auto part =
      checked == 0 ? 0.0 : static_cast<double>(expired) / static_cast<double>(checked);
  counters_.expired_part += (part - counters_.expired_part) / 20;
}

// Goes once through the expiring keys, from the last position on. Returns false if the time was
// over first.
bool keyspace::expire_some(unsigned index, std::int64_t deadline_us) {
  auto& from = databases_[index];
  auto& cursor = expiry_cursors_[index];
  const auto most = from.expiring() / 8 + 64;
  std::size_t seen = 0;
  std::size_t rounds = 0;
  std::vector<entry*> over;
  while (from.expiring() != 0 && seen < most) {
    over.clear();
    cursor = from.scan_expiring(cursor, [&](entry* each) {
      ++seen;
      ++checked_for_expiry_;
      if (each->expires_at_ms() <= now_ms_) over.push_back(each);
    });
    found_expired_ += over.size();
    for (auto* each : over) {
      ++counters_.expired;
      let_go(index, each, hash_of(each->key()), event_expired, "expired");
    }
    if (cursor == 0 && over.empty()) break;
    if (++rounds % 16 == 0 && clock_.steady_us() >= deadline_us) {
      ++counters_.expiry_overruns;
      return false;
    }
  }
  return true;
}

bool keyspace::make_room() {
  // Frees already removed values before it evicts keys.
  while (!has_room() && !graveyard_.empty()) counters_.freed_later += graveyard_.free_some();
  bool has_more = true;
  while (has_more && !has_room()) has_more = evict_one();
  return has_more;
}

bool keyspace::evict_one() {
  if (limits_.policy == eviction::none) return false;
  const bool from_expiring = is_for_expiring(limits_.policy);
  const bool at_random =
      limits_.policy == eviction::all_random || limits_.policy == eviction::volatile_random;
  entry* worst = nullptr;
  unsigned worst_database = 0;
  std::uint64_t worst_badness = 0;
  for (unsigned i = 0; i < database_count; ++i) {
    const auto& from = databases_[i];
    if ((from_expiring ? from.expiring() : from.size()) == 0) continue;
    const auto samples = at_random ? 1 : limits_.maxmemory_samples;
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      entry* const each = from_expiring ? from.random_expiring(random_) : from.random(random_);
      const auto bad = at_random ? random_() : badness(limits_, *each, now_ms_);
      if (worst != nullptr && bad <= worst_badness) continue;
      worst = each;
      worst_database = i;
      worst_badness = bad;
    }
  }
  if (worst == nullptr) return false;
  ++counters_.evicted;
  let_go(worst_database, worst, hash_of(worst->key()), event_evicted, "evicted");
  return true;
}

}  // namespace strata::runtime::cache
