#include "runtime/cache/values/hashes/field_times.hpp"

#include <new>

namespace strata::runtime::cache {

field_times::timed_name* field_times::timed_name::make(std::string_view name, std::int64_t at_ms) {
  auto* const made = new (allocate(sizeof(timed_name) + name.size()))
      timed_name{at_ms, static_cast<std::uint32_t>(name.size())};
  copy_text(made + 1, name);
  return made;
}

void field_times::timed_name::destroy(timed_name* name) { release(name, name->block_size()); }

field_times::field_times(const field_times& other) {
  for (const auto* each : other.order_) set(each->name(), each->at_ms);
}

field_times::~field_times() {
  for (auto* each : order_) timed_name::destroy(each);
}

std::optional<std::int64_t> field_times::find(std::string_view name) const {
  const auto* const place = names_.find(name);
  if (place == nullptr) return std::nullopt;
  return (*place)->at_ms;
}

void field_times::set(std::string_view name, std::int64_t at_ms) {
  const auto hash = hash_of(name);
  if (auto* const place = names_.find(name, hash)) {
    auto node = order_.extract(*place);
    (*place)->at_ms = at_ms;
    order_.insert(std::move(node));
    return;
  }
  auto* const made = timed_name::make(name, at_ms);
  names_.insert(made, hash);
  order_.insert(made);
}

bool field_times::erase(std::string_view name) {
  const auto hash = hash_of(name);
  auto* const place = names_.find(name, hash);
  if (place == nullptr) return false;
  auto* const gone = names_.erase(place, hash);
  order_.erase(gone);
  timed_name::destroy(gone);
  return true;
}

std::size_t field_times::count_until(std::int64_t now_ms) const {
  std::size_t count = 0;
  for (const auto* each : order_) {
    if (each->at_ms > now_ms) break;
    ++count;
  }
  return count;
}

std::size_t field_times::memory() const {
  std::size_t bytes = allocation_size(sizeof *this) + names_.memory();
  for (const auto* each : order_) {
    bytes += allocation_size(each->block_size()) + node_memory<decltype(order_)>();
  }
  return bytes;
}

bool field_times::shed(std::size_t steps) {
  while (steps-- != 0 && !order_.empty()) {
    auto* const gone = *order_.begin();
    order_.erase(order_.begin());
    timed_name::destroy(gone);
  }
  // The table's items are gone: it may only be destroyed.
  return !order_.empty();
}

}  // namespace strata::runtime::cache
