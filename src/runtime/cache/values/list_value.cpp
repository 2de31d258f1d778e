#include "runtime/cache/values/list_value.hpp"

#include <algorithm>
#include <array>

namespace strata::runtime::cache {

namespace {

constexpr std::size_t element_head = 8;  // what Redis counts as overhead of an element
// The limit in bytes of a pack with a fixed number of elements.
constexpr std::size_t safe_bytes = 8192;

bool has_room(const pack& node, std::size_t size, std::int64_t fill) {
  constexpr std::array<std::size_t, 5> limits = {4096, 8192, 16384, 32768, 65536};
  const auto bytes = node.bytes() + size + element_head;
  if (fill < 0) {
    return bytes <= limits[static_cast<std::size_t>(std::min<std::int64_t>(-fill, 5) - 1)];
  }
  return bytes <= safe_bytes &&
         node.size() < static_cast<std::size_t>(std::max<std::int64_t>(fill, 1));
}

}  // namespace

void list_value::push(std::string_view text, bool at_front, std::int64_t fill) {
  ++size_;
  if (nodes_.empty()) nodes_.emplace_back();
  auto& full = at_front ? nodes_.front() : nodes_.back();
  if (!full.empty() && !has_room(full, text.size(), fill)) {
    full.shrink();
    nodes_.emplace(at_front ? nodes_.begin() : nodes_.end());
  }
  if (at_front) {
    nodes_.front().push_front(text);
  } else {
    nodes_.back().push_back(text);
  }
}

element list_value::end(bool at_front) const {
  const auto& node = at_front ? nodes_.front() : nodes_.back();
  return node.at(at_front ? node.first() : node.last());
}

void list_value::pop(bool at_front) {
  --size_;
  auto& node = at_front ? nodes_.front() : nodes_.back();
  node.erase(at_front ? node.first() : node.last());
  if (!node.empty()) return;
  if (at_front) {
    nodes_.erase(nodes_.begin());
  } else {
    nodes_.pop_back();
  }
}

list_value::place list_value::seek(std::int64_t index) const {
  const auto count = static_cast<std::int64_t>(size_);
  if (index < 0) index += count;
  if (index < 0 || index >= count) return {};
  if (index < count / 2) {
    for (std::size_t node = 0;; ++node) {
      const auto inside = static_cast<std::int64_t>(nodes_[node].size());
      if (index < inside) return {node, nodes_[node].seek(index)};
      index -= inside;
    }
  }
  auto left = count - index;  // from the end; 1 is the last
  for (std::size_t node = nodes_.size() - 1;; --node) {
    const auto inside = static_cast<std::int64_t>(nodes_[node].size());
    if (left <= inside) return {node, nodes_[node].seek(inside - left)};
    left -= inside;
  }
}

list_value::place list_value::next(place place) const {
  place.at = nodes_[place.node].next(place.at);
  if (place.at == pack::none && ++place.node < nodes_.size()) place.at = nodes_[place.node].first();
  return place;
}

list_value::place list_value::previous(place place) const {
  place.at = nodes_[place.node].previous(place.at);
  if (place.at == pack::none && place.node-- > 0) place.at = nodes_[place.node].last();
  return place;
}

// Moves the elements before `place` to a pack of their own, before that of `place`.
void list_value::split(place place) {
  auto& node = nodes_[place.node];
  pack before;
  while (node.first() != place.at) {
    before.push_back(node.at(node.first()).text());
    node.erase(node.first());
  }
  nodes_.insert(nodes_.begin() + static_cast<std::ptrdiff_t>(place.node), std::move(before));
}

void list_value::insert_before(place place, std::string_view text, std::int64_t fill) {
  auto& node = nodes_[place.node];
  if (has_room(node, text.size(), fill)) {
    node.insert(place.at, text);
  } else {
    // Between two packs: inserts into the previous pack if it has room, otherwise into a new one.
    if (place.at != node.first()) {
      split(place);
      ++place.node;
    }
    if (place.node == 0 || !has_room(nodes_[place.node - 1], text.size(), fill)) {
      nodes_.emplace(nodes_.begin() + static_cast<std::ptrdiff_t>(place.node));
      ++place.node;
    }
    nodes_[place.node - 1].push_back(text);
  }
  ++size_;
}

void list_value::insert_behind(place place, std::string_view text, std::int64_t fill) {
  const auto following = next(place);
  if (following) {
    insert_before(following, text, fill);
  } else {
    push(text, false, fill);
  }
}

void list_value::replace(place place, std::string_view text) {
  nodes_[place.node].replace(place.at, text);
}

list_value::place list_value::erase(place place) {
  --size_;
  auto& node = nodes_[place.node];
  place.at = node.erase(place.at);
  if (node.empty()) {
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(place.node));
  } else if (place.at == pack::none) {
    ++place.node;
  }
  if (place.at == pack::none && place.node < nodes_.size()) place.at = nodes_[place.node].first();
  return place;
}

list_value::place list_value::erase_backwards(place place) {
  // Erasing changes offsets, but not the order: so find the next element and go back from there.
  const bool is_first = place.node == 0 && place.at == nodes_[0].first();
  const auto following = erase(place);
  if (is_first) return {};
  return following ? previous(following) : seek(-1);
}

void list_value::erase_range(std::size_t first, std::size_t count) {
  if (count == 0) return;
  auto where = seek(static_cast<std::int64_t>(first));
  size_ -= count;
  while (count != 0) {
    auto& node = nodes_[where.node];
    if (where.at == node.first() && node.size() <= count) {
      count -= node.size();
      nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(where.node));
    } else {
      const auto before = node.size();
      node.erase(where.at, count);
      count -= before - node.size();
      ++where.node;
    }
    if (where.node < nodes_.size()) where.at = nodes_[where.node].first();
  }
}

void list_value::append(pack&& node) {
  size_ += node.size();
  nodes_.push_back(std::move(node));
}

std::size_t list_value::memory() const {
  std::size_t bytes = allocation_size(sizeof *this);
  if (nodes_.capacity() > packs::static_capacity) {
    bytes += allocation_size(nodes_.capacity() * sizeof(pack));
  }
  for (const auto& each : nodes_) bytes += each.memory();
  return bytes;
}

bool list_value::shed(std::size_t steps) {
  while (steps-- != 0 && !nodes_.empty()) nodes_.pop_back();
  return !nodes_.empty();
}

}  // namespace strata::runtime::cache
