// The engine's part that lets keys go: those whose time is over, and those that memory is too small
// for.
#include <algorithm>
#include <chrono>

#include "runtime/cache/engine/access.hpp"
#include "runtime/cache/engine/engine.hpp"

namespace strata::runtime::cache {

namespace {

std::int64_t clock_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// How gladly a key is evicted: the more, the sooner.
std::uint64_t badness(const parameters& by, const entry& of, std::int64_t now_ms) {
  if (by.policy == eviction::volatile_ttl) {
    return UINT64_MAX - static_cast<std::uint64_t>(of.expires_at_ms());
  }
  if (is_lfu(by.policy)) return 255 - use_frequency(by, of.access(), now_ms);
  return static_cast<std::uint64_t>(idle_seconds(of.access(), now_ms));
}

}  // namespace

bool engine::tick(loop::duration budget) {
  const charging scope(memory_);
  peak_memory_ = std::max(peak_memory_, memory_);
  for (auto* each : blocked_.overdue(now_ms_)) give_up_waiting(*each);
  if (pause_.is_over(now_ms_)) pause_.end();
  const auto began_us = clock_us();
  const bool done = tidy(began_us, budget);
  if (!pause_.is_on()) note_latency("expire-cycle", clock_us() - began_us);
  end_batch();
  return done;
}

// What is not urgent. False: the time was over first.
bool engine::tidy(std::int64_t began_us, loop::duration budget) {
  const auto deadline_us =
      began_us + std::chrono::duration_cast<std::chrono::microseconds>(budget).count();
  // Each database gets its turn, though one alone may take all the time of a tick.
  const bool may_expire = expires_actively_ && !expires_by_leader_ && !pause_.is_on();
  for (unsigned i = 0; i < database_count && may_expire; ++i) {
    const auto index = expiry_database_++ % database_count;
    if (!expire_some(index, deadline_us)) return false;
  }
  while (!graveyard_.empty()) {
    graveyard_.free_some();
    if (clock_us() >= deadline_us) return false;
  }
  if (!parameters_.active_rehashing) return true;
  for (auto& each : databases_) {
    while (each.advance(64)) {
      if (clock_us() >= deadline_us) return false;
    }
  }
  return true;
}

// Goes once through the keys that expire, from where it stood. False: the time was over first.
bool engine::expire_some(unsigned index, std::int64_t deadline_us) {
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
      if (each->expires_at_ms() <= now_ms_) over.push_back(each);
    });
    for (auto* each : over) {
      const std::array<std::string_view, 2> words = {"DEL", each->key()};
      propagate(index, words);
      ++counters_.expired;
      remove(index, each, hash_of(each->key()), event_expired, "expired");
    }
    if (cursor == 0 && over.empty()) break;
    if (++rounds % 16 == 0 && clock_us() >= deadline_us) return false;
  }
  return true;
}

bool engine::make_room(const command& what) {
  if (memory_ <= parameters_.maxmemory) return true;
  const auto began_us = parameters_.latency_threshold_ms > 0 ? clock_us() : 0;
  // What is dead already goes before what lives.
  while (memory_ > parameters_.maxmemory && !graveyard_.empty()) graveyard_.free_some();
  bool has_more = true;
  while (has_more && memory_ > parameters_.maxmemory) has_more = evict_one();
  if (began_us != 0) note_latency("eviction-cycle", clock_us() - began_us);
  return has_more || !what.has(flag_deny_oom);
}

bool engine::evict_one() {
  if (parameters_.policy == eviction::none) return false;
  const bool from_expiring = is_for_expiring(parameters_.policy);
  const bool at_random =
      parameters_.policy == eviction::all_random || parameters_.policy == eviction::volatile_random;
  entry* worst = nullptr;
  unsigned worst_database = 0;
  std::uint64_t worst_badness = 0;
  for (unsigned i = 0; i < database_count; ++i) {
    const auto& from = databases_[i];
    if ((from_expiring ? from.expiring() : from.size()) == 0) continue;
    const auto samples = at_random ? 1 : parameters_.maxmemory_samples;
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      entry* const each = from_expiring ? from.random_expiring(random_) : from.random(random_);
      const auto bad = at_random ? random_() : badness(parameters_, *each, now_ms_);
      if (worst != nullptr && bad <= worst_badness) continue;
      worst = each;
      worst_database = i;
      worst_badness = bad;
    }
  }
  if (worst == nullptr) return false;
  const std::array<std::string_view, 2> words = {"DEL", worst->key()};
  propagate(worst_database, words);
  ++counters_.evicted;
  remove(worst_database, worst, hash_of(worst->key()), event_evicted, "evicted");
  return true;
}

}  // namespace strata::runtime::cache
