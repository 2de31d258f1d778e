#include "runtime/cache/values/graveyard.hpp"

#include <array>

namespace strata::runtime::cache {

namespace {

// A value with no more elements is freed faster than it is stored.
constexpr std::size_t small_size = 64;
// Buckets of a table, or nodes of a list.
constexpr std::size_t steps = 16;

}  // namespace

void graveyard::bury(std::unique_ptr<collection> value) {
  if (value->size() > small_size) values_.push_back(std::move(value));
}

void graveyard::bury(database&& whole) {
  if (whole.size() == 0) return;
  databases_.emplace_back();
  std::swap(databases_.back().data, whole);
}

std::size_t graveyard::size() const {
  auto count = values_.size();
  for (const auto& each : databases_) count += each.data.size();
  return count;
}

std::uint64_t graveyard::free_some() {
  if (!values_.empty()) {
    if (values_.front()->shed(steps)) return 0;
    values_.pop_front();
    return 1;
  }
  if (databases_.empty()) return 0;
  auto& first = databases_.front();
  const auto freed = free_some_of(first);
  if (first.data.size() == 0) databases_.pop_front();
  return freed;
}

std::uint64_t graveyard::free_some_of(dead_database& database) {
  std::vector<entry*> found;
  for (std::size_t i = 0; i < steps; ++i) {
    database.cursor =
        database.data.scan(database.cursor, [&](entry* each) { found.push_back(each); });
    if (database.cursor == 0) break;
  }
  for (auto* each : found) {
    entry* const gone = database.data.release(each, hash_of(each->key()));
    if (!gone->is_string()) bury(gone->take_object());
    entry::destroy(gone);
  }
  // Large values have been added to the graveyard.
  return found.size() - values_.size();
}

}  // namespace strata::runtime::cache
