#include "runtime/cache/values/streams/stream_group.hpp"

namespace strata::runtime::cache {

stream_group::stream_group(const stream_group& other)
    : last_id(other.last_id), entries_read(other.entries_read), pending_(other.pending_) {
  for (const auto& [name, consumer] : other.consumers_) {
    auto& copy = add_consumer(name, consumer.seen_ms);
    copy.pending = consumer.pending;
    for (const auto& id : copy.pending) pending_.find(id)->second.consumer = &copy;
  }
}

stream_consumer* stream_group::find_consumer(std::string_view name) {
  const auto found = consumers_.find(name);
  return found == consumers_.end() ? nullptr : &found->second;
}

stream_consumer& stream_group::add_consumer(std::string_view name, std::int64_t now_ms) {
  const auto place = consumers_.try_emplace(charged_string(name)).first;
  place->second.name = place->first;
  place->second.seen_ms = now_ms;
  return place->second;
}

void stream_group::erase_consumer(stream_consumer& consumer) {
  for (const auto& id : consumer.pending) pending_.erase(id);
  consumers_.erase(consumers_.find(consumer.name));
}

void stream_group::assign(pending_place place, stream_consumer& consumer) {
  auto& entry = place->second;
  if (entry.consumer == &consumer) return;
  if (entry.consumer != nullptr) entry.consumer->pending.erase(place->first);
  consumer.pending.insert(place->first);
  entry.consumer = &consumer;
}

stream_group::pending_place stream_group::erase_pending(pending_place place) {
  if (place->second.consumer != nullptr) place->second.consumer->pending.erase(place->first);
  return pending_.erase(place);
}

std::size_t stream_group::memory() const {
  // Each pending entry also stands with its consumer.
  std::size_t bytes = pending_.size() * (node_memory<pending_map>() +
                                         node_memory<decltype(stream_consumer::pending)>());
  for (const auto& [name, consumer] : consumers_) {
    bytes += node_memory<consumer_map>() + memory_of(name);
  }
  return bytes;
}

bool stream_group::shed(std::size_t steps) {
  while (steps-- != 0 && !pending_.empty()) erase_pending(pending_.begin());
  return !pending_.empty();
}

}  // namespace strata::runtime::cache
