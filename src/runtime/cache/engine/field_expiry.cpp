// The part of the keyspace that removes expired fields of hashes.
#include <string>
#include <vector>

#include "runtime/cache/engine/keyspace.hpp"
#include "runtime/cache/values/hash_value.hpp"

namespace strata::runtime::cache {

namespace {

// The most fields that one propagated command removes.
constexpr std::size_t most_fields = 256;

std::vector<std::string> take_overdue(hash_value& hash, std::int64_t now_ms) {
  std::vector<std::string> names;
  while (names.size() < most_fields && hash.has_overdue(now_ms)) {
    names.emplace_back(hash.times()->first_name());
    hash.erase(names.back());
  }
  return names;
}

}  // namespace

entry* keyspace::without_overdue_fields(unsigned index, entry* entry, std::uint64_t hash) {
  auto& value = entry->as<hash_value>();
  // The leader, or the log, says which fields have expired.
  if (!value.has_overdue(now_ms_) || expires_by_leader_ || changes_.is_replayed()) return entry;
  if (guard_ != nullptr) guard_->before_change(index, entry->key());
  while (value.has_overdue(now_ms_)) {
    const auto names = take_overdue(value, now_ms_);
    counters_.expired_fields += names.size();
    std::vector<std::string_view> words = {"HDEL", entry->key()};
    words.insert(words.end(), names.begin(), names.end());
    changes_.propagate(index, words);
  }
  touch(index, entry->key());
  notify(event_hash, "hexpired", entry->key(), index);
  if (value.size() == 0) {
    remove(index, entry, hash, event_generic, "del");
    return nullptr;
  }
  databases_[index].note_field_times(entry, hash);
  return entry;
}

// Goes once through the hashes with fields that expire, from the last position on. Returns false if
// the time was over first.
bool keyspace::expire_fields(unsigned index, std::int64_t deadline_us) {
  auto& source = databases_[index];
  auto& cursor = field_cursors_[index];
  const auto most = source.dated() / 8 + 64;
  std::size_t seen = 0;
  std::size_t rounds = 0;
  std::vector<entry*> found;
  while (source.dated() != 0 && seen < most) {
    found.clear();
    cursor = source.scan_dated(cursor, [&](entry* each) {
      ++seen;
      // Fields may have lost their times by a command that overwrote them.
      const auto& value = each->as<hash_value>();
      if (value.times() == nullptr || value.has_overdue(now_ms_)) found.push_back(each);
    });
    for (auto* each : found) {
      const auto hash = hash_of(each->key());
      source.note_field_times(each, hash);
      (void)without_overdue_fields(index, each, hash);
    }
    if (cursor == 0) break;
    if (++rounds % 16 == 0 && clock_.steady_us() >= deadline_us) return false;
  }
  return true;
}

}  // namespace strata::runtime::cache
