#include "runtime/cache/values/streams/stream_value.hpp"

#include <algorithm>

namespace strata::runtime::cache {

namespace {

// Redis's limit for a block without another one.
constexpr std::int64_t most_block_bytes = 1 << 30;

bool is_full(const stream_block& block, std::size_t added, const stream_limits& limits) {
  const auto configured = limits.max_block_bytes;
  const auto most =
      configured == 0 || configured > most_block_bytes ? most_block_bytes : configured;
  if (block.bytes() + added >= static_cast<std::size_t>(most)) return true;
  return limits.max_block_entries != 0 &&
         block.size() + block.deleted() >= static_cast<std::uint64_t>(limits.max_block_entries);
}

void add_ids(const stream_block& block, std::vector<stream_id>& ids) {
  for (auto entry = block.first(); entry; entry = block.next(*entry)) {
    if (!entry->is_deleted) ids.push_back(entry->id);
  }
}

}  // namespace

// --- entries

void stream_value::append(stream_id id, std::span<const std::string_view> words,
                          const stream_limits& limits) {
  std::size_t added = 0;
  for (const auto& each : words) added += each.size();
  // After the stream was set back, such blocks have only deleted entries.
  while (!blocks_.empty() && std::prev(blocks_.end())->first >= id) {
    blocks_.erase(std::prev(blocks_.end()));
  }
  auto block = blocks_.empty() ? blocks_.end() : std::prev(blocks_.end());
  if (block == blocks_.end() || is_full(block->second, added, limits)) {
    if (block != blocks_.end()) block->second.shrink();
    block = blocks_.emplace_hint(blocks_.end(), id, stream_block(id, words));
  }
  block->second.append(id, words);
  ++size_;
  ++entries_added;
  last_id = id;
  if (size_ == 1) first_id = id;
}

stream_value::block_map::const_iterator stream_value::block_of(stream_id id) const {
  const auto behind = blocks_.upper_bound(id);
  return behind == blocks_.begin() ? blocks_.end() : std::prev(behind);
}

bool stream_value::contains(stream_id id) const {
  const auto block = block_of(id);
  return block != blocks_.end() && block->second.find(id).has_value();
}

bool stream_value::erase(stream_id id) {
  const auto place = block_of(id);
  if (place == blocks_.end()) return false;
  const auto entry = place->second.find(id);
  if (!entry) return false;
  if (place->second.size() == 1) {
    blocks_.erase(place);
  } else {
    blocks_.find(place->first)->second.erase(*entry);
  }
  --size_;
  max_deleted_id = std::max(max_deleted_id, id);
  if (size_ == 0 || id == first_id) find_first();
  return true;
}

void stream_value::find_first() { first_id = end_id(true).value_or(stream_id::lowest()); }

std::uint64_t stream_value::trim(const stream_trimming& trimming,
                                 std::vector<stream_id>* removed_ids) {
  std::uint64_t removed = 0;
  while (!blocks_.empty()) {
    if (trimming.max_size && size_ <= *trimming.max_size) break;
    auto& block = blocks_.begin()->second;
    const auto entries = block.size();
    if (trimming.limit != 0 && removed + entries > static_cast<std::uint64_t>(trimming.limit)) {
      break;
    }
    const bool is_whole = trimming.max_size ? size_ - entries >= *trimming.max_size
                                            : block.last()->id < trimming.least_id;
    if (is_whole) {
      if (removed_ids != nullptr) add_ids(block, *removed_ids);
      blocks_.erase(blocks_.begin());
      size_ -= entries;
      removed += entries;
      continue;
    }
    if (!trimming.is_approximate) removed += trim_block(block, trimming, removed_ids);
    break;
  }
  if (removed != 0) find_first();
  return removed;
}

// Removes the first entries of a block of which some stay.
std::uint64_t stream_value::trim_block(stream_block& block, const stream_trimming& trimming,
                                       std::vector<stream_id>* removed_ids) {
  std::uint64_t removed = 0;
  for (auto entry = block.first(); entry;) {
    const bool is_kept =
        trimming.max_size ? size_ <= *trimming.max_size : entry->id >= trimming.least_id;
    if (is_kept) break;
    if (entry->is_deleted) {
      entry = block.next(*entry);
      continue;
    }
    if (removed_ids != nullptr) removed_ids->push_back(entry->id);
    entry = block.next(block.erase(*entry));
    --size_;
    ++removed;
  }
  return removed;
}

std::vector<stream_id> stream_value::unreferenced(const stream_trimming& trimming) const {
  // What is behind the position of a group is unread, and so referenced.
  auto last_read = stream_id::highest();
  for (const auto& [name, group] : groups_) last_read = std::min(last_read, group.last_id);
  const auto is_kept = [&](const stream_entry& entry, std::size_t left) {
    if (!entry.is_deleted && entry.id > last_read) return true;
    return trimming.max_size ? left <= *trimming.max_size : entry.id >= trimming.least_id;
  };
  std::vector<stream_id> found;
  for (const auto& [first, block] : blocks_) {
    const auto left = size_ - found.size();
    if (trimming.limit != 0 &&
        found.size() + block.size() > static_cast<std::uint64_t>(trimming.limit)) {
      break;
    }
    const bool is_whole = trimming.max_size ? left - block.size() >= *trimming.max_size
                                            : block.last()->id < trimming.least_id;
    if (!is_whole && trimming.is_approximate) break;
    for (auto entry = block.first(); entry; entry = block.next(*entry)) {
      if (is_kept(*entry, size_ - found.size())) return found;
      if (!entry->is_deleted && !is_referenced(entry->id)) found.push_back(entry->id);
    }
  }
  return found;
}

std::optional<stream_id> stream_value::end_id(bool at_front) const {
  stream_cursor cursor(*this, stream_id::lowest(), stream_id::highest(), !at_front);
  if (!cursor.next()) return {};
  return cursor.entry().id;
}

std::uint64_t stream_value::count(stream_id first, stream_id last, std::uint64_t limit) const {
  if (first > last) return 0;
  std::uint64_t found = 0;
  auto block = block_of(first);
  if (block == blocks_.end()) block = blocks_.begin();
  for (; block != blocks_.end() && block->first <= last && found < limit; ++block) {
    const auto following = std::next(block);
    const bool is_inside =
        block->first >= first && following != blocks_.end() && following->first <= last;
    if (is_inside) {
      found += block->second.size();
      continue;
    }
    auto entry = block->second.search_start(first);
    for (; entry && found < limit; entry = block->second.next(*entry)) {
      if (entry->is_deleted || entry->id < first) continue;
      if (entry->id > last) break;
      ++found;
    }
  }
  return std::min(found, limit);
}

bool stream_value::add_block(stream_id first, stream_block&& block) {
  if (!blocks_.empty()) {
    const auto& before = *std::prev(blocks_.end());
    const auto last = before.second.last_present();
    if (first <= before.first || (last && first <= last->id)) return false;
  }
  size_ += block.size();
  blocks_.emplace_hint(blocks_.end(), first, std::move(block));
  return true;
}

// --- groups

stream_group* stream_value::find_group(std::string_view name) {
  const auto found = groups_.find(name);
  return found == groups_.end() ? nullptr : &found->second;
}

stream_group* stream_value::add_group(std::string_view name, stream_id last, std::int64_t read) {
  const auto [place, is_new] = groups_.try_emplace(charged_string(name), last, read);
  return is_new ? &place->second : nullptr;
}

bool stream_value::erase_group(std::string_view name) {
  const auto found = groups_.find(name);
  if (found == groups_.end()) return false;
  groups_.erase(found);
  return true;
}

bool stream_value::is_referenced(stream_id id) const {
  return std::ranges::any_of(groups_, [id](const auto& named) {
    const auto& group = named.second;
    return id > group.last_id || group.pending().contains(id);
  });
}

bool stream_value::has_deletions_from(stream_id first) const {
  if (size_ == 0 || max_deleted_id == stream_id::lowest()) return false;
  // Deletions before the first entry left no gap.
  if (first_id > max_deleted_id) return false;
  return first <= max_deleted_id;
}

std::int64_t stream_value::entries_up_to(stream_id id) const {
  const auto added = static_cast<std::int64_t>(entries_added);
  if (entries_added == 0) return 0;
  if (size_ == 0 && id <= last_id) return added;
  if (id == last_id) return added;
  if (id > last_id) return stream_group::unknown;
  if (max_deleted_id == stream_id::lowest() || max_deleted_id < first_id) {
    // XSETID sets any number of added entries.
    const auto before_first = entries_added - size_;
    if (id < first_id) return static_cast<std::int64_t>(before_first);
    if (id == first_id) return static_cast<std::int64_t>(before_first + 1);
  }
  return stream_group::unknown;
}

std::optional<std::int64_t> stream_value::lag(const stream_group& group) const {
  if (entries_added == 0) return 0;
  const bool is_counted =
      group.entries_read != stream_group::unknown && !has_deletions_from(group.last_id);
  const auto read = is_counted ? group.entries_read : entries_up_to(group.last_id);
  if (!is_counted && read == stream_group::unknown) return {};
  return static_cast<std::int64_t>(entries_added - static_cast<std::uint64_t>(read));
}

void stream_value::advance(stream_group& group, stream_id id) const {
  if (group.entries_read != stream_group::unknown && !has_deletions_from(id)) {
    group.entries_read =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(group.entries_read) + 1);
  } else if (entries_added != 0) {
    group.entries_read = entries_up_to(id);
  }
  group.last_id = id;
}

// --- as a collection

std::size_t stream_value::memory() const {
  std::size_t bytes = allocation_size(sizeof *this) + blocks_.size() * node_memory<block_map>();
  for (const auto& [first, block] : blocks_) bytes += block.memory();
  for (const auto& [name, group] : groups_) {
    bytes += node_memory<group_map>() + memory_of(name) + group.memory();
  }
  return bytes;
}

bool stream_value::shed(std::size_t steps) {
  for (; steps != 0 && !blocks_.empty(); --steps) blocks_.erase(blocks_.begin());
  size_ = 0;
  if (!blocks_.empty()) return true;
  if (groups_.empty()) return false;
  if (!groups_.begin()->second.shed(steps)) groups_.erase(groups_.begin());
  return !groups_.empty();
}

// --- cursor

stream_cursor::stream_cursor(const stream_value& stream, stream_id first, stream_id last,
                             bool backwards)
    : blocks_(stream.blocks()), first_(first), last_(last), backwards_(backwards) {
  const auto behind = blocks_.upper_bound(backwards ? last : first);
  block_ = behind == blocks_.begin() ? (backwards ? blocks_.end() : behind) : std::prev(behind);
  if (first > last) block_ = blocks_.end();
}

void stream_cursor::enter_block() {
  if (block_ == blocks_.end()) {
    entry_.reset();
  } else {
    entry_ = backwards_ ? block_->second.last() : block_->second.search_start(first_);
  }
}

void stream_cursor::step() {
  if (!begun_) {
    begun_ = true;
    enter_block();
    return;
  }
  if (!entry_) return;
  entry_ = backwards_ ? block_->second.previous(*entry_) : block_->second.next(*entry_);
  if (entry_) return;
  if (!backwards_) {
    ++block_;
  } else if (block_ == blocks_.begin()) {
    block_ = blocks_.end();
  } else {
    --block_;
  }
  enter_block();
}

bool stream_cursor::next() {
  for (step(); entry_; step()) {
    if (entry_->is_deleted) continue;
    if (backwards_ ? entry_->id < first_ : entry_->id > last_) break;
    if (entry_->id < first_ || entry_->id > last_) continue;
    if (!backwards_) block_->second.remember(*entry_);
    return true;
  }
  entry_.reset();
  block_ = blocks_.end();
  return false;
}

}  // namespace strata::runtime::cache
