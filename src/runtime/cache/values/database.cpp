#include "runtime/cache/values/database.hpp"

#include "runtime/cache/values/hash_value.hpp"

namespace strata::runtime::cache {

void database::add(entry* fresh, std::uint64_t hash) {
  mark(*fresh);
  entries_.insert(fresh, hash);
  if (fresh->has_expiry()) expiring_.insert(fresh, hash);
  if (fresh->type() == value_kind::hash) note_field_times(fresh, hash);
}

void database::note_field_times(entry* entry, std::uint64_t hash) {
  const bool has_times = entry->as<hash_value>().times() != nullptr;
  auto* const place = dated_.find(entry->key(), hash);
  if (has_times && place == nullptr) {
    dated_.insert(entry, hash);
  } else if (has_times) {
    *place = entry;
  } else if (place != nullptr) {
    dated_.erase(place, hash);
  }
}

// The entry's value may be gone already.
void database::forget_dated(const entry& entry, std::uint64_t hash) {
  if (entry.type() != value_kind::hash || dated_.empty()) return;
  if (auto* const place = dated_.find(entry.key(), hash)) dated_.erase(place, hash);
}

void database::replace(entry* old, entry* fresh, std::uint64_t hash) {
  mark(*fresh);
  forget_dated(*old, hash);
  *entries_.find(old->key(), hash) = fresh;
  if (fresh->type() == value_kind::hash) note_field_times(fresh, hash);
  if (old->has_expiry()) {
    auto* const place = expiring_.find(old->key(), hash);
    if (fresh->has_expiry()) {
      *place = fresh;
    } else {
      expiring_.erase(place, hash);
    }
  } else if (fresh->has_expiry()) {
    expiring_.insert(fresh, hash);
  }
  entry::destroy(old);
}

entry* database::release(entry* entry, std::uint64_t hash) {
  forget_dated(*entry, hash);
  if (entry->has_expiry()) expiring_.erase(expiring_.find(entry->key(), hash), hash);
  entries_.erase(entries_.find(entry->key(), hash), hash);
  return entry;
}

void database::remove(entry* which, std::uint64_t hash) { entry::destroy(release(which, hash)); }

entry* database::set_expiry(entry* entry, std::int64_t at_ms, std::uint64_t hash) {
  if (entry->has_expiry() && at_ms != entry::never) {
    entry->change_expiry(at_ms);
    return entry;
  }
  if (!entry->has_expiry() && at_ms == entry::never) return entry;
  auto* const fresh = entry::move_from(*entry, entry->key(), at_ms);
  replace(entry, fresh, hash);
  return fresh;
}

database database::take_all() {
  database taken;
  std::swap(*this, taken);
  mark_ = taken.mark_;
  return taken;
}

void database::mark_all() {
  entries_.for_each([this](entry* each) { mark(*each); });
}

void database::clear() {
  entries_.for_each([](entry* each) { entry::destroy(each); });
  entries_.clear();
  expiring_.clear();
  dated_.clear();
}

}  // namespace strata::runtime::cache
