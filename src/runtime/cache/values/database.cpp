#include "runtime/cache/values/database.hpp"

namespace strata::runtime::cache {

void database::add(entry* fresh, std::uint64_t hash) {
  mark(*fresh);
  entries_.insert(fresh, hash);
  if (fresh->has_expiry()) expiring_.insert(fresh, hash);
}

void database::replace(entry* old, entry* fresh, std::uint64_t hash) {
  mark(*fresh);
  *entries_.find(old->key(), hash) = fresh;
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
}

}  // namespace strata::runtime::cache
