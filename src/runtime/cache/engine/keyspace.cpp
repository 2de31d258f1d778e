#include "runtime/cache/engine/keyspace.hpp"

#include <utility>

namespace strata::runtime::cache {

keyspace::keyspace(const keyspace_limits& limits, const engine_clock& clock)
    : limits_(limits),
      clock_(clock),
      databases_(database_count),
      random_(std::random_device{}()),
      expiry_cursors_(database_count),
      field_cursors_(database_count) {}

void keyspace::publish_event(std::string_view event, std::string_view key, unsigned index) {
  if (observer_ != nullptr) observer_->on_event(event, key, index);
}

void keyspace::remove(unsigned index, entry* which, std::uint64_t hash, event_class why,
                      std::string_view event) {
  entry* const gone = databases_[index].release(which, hash);
  touch(index, gone->key());
  notify(why, event, gone->key(), index);
  if (why == event_expired && limits_.lazy_expire) free_later(*gone);
  entry::destroy(gone);
}

void keyspace::clear(unsigned index, bool later) {
  if (observer_ != nullptr) observer_->on_clear(index);
  if (guard_ != nullptr) guard_->before_clear(index);
  if (later) free_later(databases_[index].take_all());
  databases_[index].clear();
}

void keyspace::swap(unsigned first, unsigned second) {
  if (observer_ != nullptr) {
    observer_->on_exchange(first, second);
    observer_->on_exchange(second, first);
  }
  std::swap(databases_[first], databases_[second]);
  if (guard_ != nullptr) guard_->on_swap(first, second);
  std::swap(expiry_cursors_[first], expiry_cursors_[second]);
  std::swap(field_cursors_[first], field_cursors_[second]);
  if (observer_ != nullptr) {
    observer_->on_exchanged(first);
    observer_->on_exchanged(second);
  }
}

void keyspace::set_guard(change_guard* one) {
  guard_ = one;
  if (admits_guard() && on_guard_admitted_) on_guard_admitted_();
}

void keyspace::set_interrupted(bool enabled) {
  is_interrupted_ = enabled;
  if (admits_guard() && on_guard_admitted_) on_guard_admitted_();
}

}  // namespace strata::runtime::cache
