#include "runtime/cache/values/list_value.hpp"

#include <algorithm>
#include <array>

namespace strata::runtime::cache {

namespace {

constexpr std::size_t element_head = 8;  // what Redis counts as overhead of an element
// What Redis 7.0 counts as the envelope of a pack that goes into another: that of its predecessor,
// the ziplist. A merged pack may so take 4 bytes more than the limit.
constexpr std::size_t merged_envelope = 11;
// The limit in bytes of a pack with a fixed number of elements.
constexpr std::size_t safe_bytes = 8192;

// Reports whether a pack may have this number of elements in this number of bytes.
bool fits(std::size_t bytes, std::size_t elements, std::int64_t fill) {
  constexpr std::array<std::size_t, 5> limits = {4096, 8192, 16384, 32768, 65536};
  if (fill < 0) {
    return bytes <= limits[static_cast<std::size_t>(std::min<std::int64_t>(-fill, 5) - 1)];
  }
  return bytes <= safe_bytes && elements <= static_cast<std::size_t>(fill);
}

bool has_room(const pack& node, std::size_t size, std::int64_t fill) {
  return fits(node.bytes() + size + element_head, node.size() + 1, fill);
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

void list_value::insert(place place, std::string_view text, bool is_behind, std::int64_t fill) {
  ++size_;
  auto& node = nodes_[place.node];
  const auto at = is_behind ? node.next(place.at) : place.at;
  if (has_room(node, text.size(), fill)) {
    node.insert(at, text);
  } else if (at == (is_behind ? pack::none : node.first())) {
    insert_between(place.node + (is_behind ? 1 : 0), text, is_behind, fill);
  } else {
    split({place.node, at});
    if (is_behind) {
      nodes_[place.node + 1].push_front(text);
    } else {
      nodes_[place.node].push_back(text);
    }
    merge_around(place.node + (is_behind ? 0 : 1), fill);
  }
}

// Inserts at the border before pack `node`, of which the other side is full: into the pack on this
// side (`is_behind`: the one after the border) if it has room, otherwise into a new one.
void list_value::insert_between(std::size_t node, std::string_view text, bool is_behind,
                                std::int64_t fill) {
  if (is_behind && node < nodes_.size() && has_room(nodes_[node], text.size(), fill)) {
    nodes_[node].push_front(text);
  } else if (!is_behind && node > 0 && has_room(nodes_[node - 1], text.size(), fill)) {
    nodes_[node - 1].push_back(text);
  } else {
    nodes_.emplace(nodes_.begin() + static_cast<std::ptrdiff_t>(node))->push_back(text);
  }
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

// Merges the packs around `center`, which was split, as far as they have room, in Redis's order: so
// insertions leave no trail of small packs.
void list_value::merge_around(std::size_t center, std::int64_t fill) {
  merge(center + 1, fill);
  if (center > 1 && merge(center - 2, fill)) --center;
  if (center > 0 && merge(center - 1, fill)) --center;
  merge(center, fill);
}

// Merges two neighbours if one pack may have the elements of both; reports whether it did.
bool list_value::merge(std::size_t first, std::int64_t fill) {
  if (first + 1 >= nodes_.size()) return false;
  auto& node = nodes_[first];
  auto& second = nodes_[first + 1];
  if (!fits(node.bytes() + second.bytes() - merged_envelope, node.size() + second.size(), fill)) {
    return false;
  }
  for (auto at = second.first(); at != pack::none; at = second.next(at)) {
    node.push_back(second.at(at).text());
  }
  nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  return true;
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
