// The hash table of the cache: for keys, and for the elements of large sets and hashes.
//
// A bucket is one cache line: seven items (pointers), one byte of each item's hash, and which
// places are taken. So a lookup reads one line, and the item that matches; both can be prefetched
// (`prefetch_bucket`, `prefetch_item`), so that a pipeline of requests waits for memory once and
// not for each request. A full bucket continues in another one, chained in its last place.
//
// The table grows and shrinks one bucket at a time, with each insertion and erasure: none waits for
// a whole table to be moved. `scan` has the guarantees of Redis's SCAN: an item that exists from
// the scan's beginning to its end is visited at least once, however the table changes between the
// calls.
//
// The table does not own the objects to which its items point.
#pragma once

#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <string_view>
#include <utility>

#include "runtime/cache/values/hash.hpp"
#include "runtime/cache/values/memory.hpp"

namespace strata::runtime::cache {

/// `KeyOf::key(Item)` returns the item's key, a std::string_view.
template <class Item, class KeyOf>
class hash_table {
  static_assert(std::is_pointer_v<Item>);

 public:
  hash_table() = default;
  hash_table(hash_table&& other) noexcept { swap(other); }
  hash_table& operator=(hash_table&& other) noexcept {
    swap(other);
    return *this;
  }
  hash_table(const hash_table&) = delete;
  hash_table& operator=(const hash_table&) = delete;
  ~hash_table() {
    for (auto& each : levels_) free_level(each);
  }
  void swap(hash_table& other) noexcept {
    std::swap(levels_, other.levels_);
    std::swap(moved_, other.moved_);
  }

  [[nodiscard]] std::size_t size() const { return levels_[0].count + levels_[1].count; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// Returns the bytes of memory, without the objects to which the items point.
  [[nodiscard]] std::size_t memory() const { return levels_[0].memory() + levels_[1].memory(); }

  void prefetch_bucket(std::uint64_t hash) const {
    if (levels_[0].buckets != nullptr) {
      prefetch_line(&levels_[0].buckets[hash & levels_[0].mask]);
    }
    if (levels_[1].buckets != nullptr) {
      prefetch_line(&levels_[1].buckets[hash & levels_[1].mask]);
    }
  }
  /// Prefetches the item that most likely has `hash`; its bucket should be in the cache by now.
  void prefetch_item(std::uint64_t hash) const {
    for (const auto& each : levels_) {
      if (each.buckets == nullptr) continue;
      const auto& home = each.buckets[hash & each.mask];
      for (auto match = home.matches(tag_of(hash)); match != 0; match &= match - 1) {
        prefetch_line(home.items[first_of(match)]);
      }
    }
  }

  /// Returns the place of the item with this key, or null. Valid until the table changes.
  [[nodiscard]] Item* find(std::string_view key, std::uint64_t hash) {
    for (std::size_t i = 0; i < 2; ++i) {
      if (levels_[i].buckets == nullptr) return nullptr;
      if (Item* const found = find_in(levels_[i], key, hash)) return found;
    }
    return nullptr;
  }
  [[nodiscard]] const Item* find(std::string_view key, std::uint64_t hash) const {
    return const_cast<hash_table*>(this)->find(key, hash);
  }
  [[nodiscard]] Item* find(std::string_view key) { return find(key, hash_of(key)); }
  [[nodiscard]] const Item* find(std::string_view key) const { return find(key, hash_of(key)); }

  /// Inserts an item whose key does not exist yet.
  void insert(Item item, std::uint64_t hash) {
    if (levels_[0].buckets == nullptr) levels_[0] = make_level(1);
    advance();
    grow_if_full();
    put(is_moving() ? levels_[1] : levels_[0], item, hash);
  }
  /// Removes the item at `place`, which `find` returned.
  Item erase(Item* place, std::uint64_t hash) {
    const Item taken = *place;
    level& where = holds(levels_[0], place, hash) ? levels_[0] : levels_[1];
    take_out(where, place, hash);
    advance();
    shrink_if_empty();
    return taken;
  }
  /// Removes the items of some buckets, passing each to `visit`, and frees the buckets' memory;
  /// reports whether there is more. The table must not be used otherwise afterwards.
  template <class Visit>
  bool drain(std::size_t steps, Visit&& visit) {
    while (steps-- != 0) {
      if (levels_[0].buckets == nullptr) std::swap(levels_[0], levels_[1]);
      level& from = levels_[0];
      if (from.buckets == nullptr) return false;
      std::size_t gone = 0;
      visit_chain(from.buckets[moved_], [&](Item each) {
        visit(each);
        ++gone;
      });
      from.count -= gone;
      if (empty_next()) free_memory(from);
    }
    return true;
  }
  /// Removes all items.
  void clear() {
    for (auto& each : levels_) free_level(each);
    moved_ = 0;
  }

  /// Visits all items; `visit` must not change the table.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& each : levels_) {
      for (std::size_t i = 0; i < each.size(); ++i) visit_chain(each.buckets[i], visit);
    }
  }

  /// Visits a few items from `cursor` on (0: from the beginning) and returns the next cursor, 0 at
  /// the end. `visit` must not change the table.
  template <class Visit>
  std::uint64_t scan(std::uint64_t cursor, Visit&& visit) const {
    if (empty()) return 0;
    const bool first_is_small = !is_moving() || levels_[0].mask <= levels_[1].mask;
    const level& small = levels_[first_is_small ? 0 : 1];
    visit_chain(small.buckets[cursor & small.mask], visit);
    if (!is_moving()) return next_cursor(cursor, small.mask);
    const level& large = levels_[first_is_small ? 1 : 0];
    do {
      visit_chain(large.buckets[cursor & large.mask], visit);
      cursor = next_cursor(cursor, large.mask);
    } while ((cursor & (small.mask ^ large.mask)) != 0);
    return cursor;
  }

  /// Returns a random item, with about equal likelihood for each. The table must not be empty.
  template <class Random>
  [[nodiscard]] Item random(Random& source) const {
    for (;;) {
      const auto total = levels_[0].size() + levels_[1].size();
      auto index = static_cast<std::size_t>(source() % total);
      const level& where = index < levels_[0].size() ? levels_[0] : levels_[1];
      if (&where == &levels_[1]) index -= levels_[0].size();
      std::size_t count = 0;
      visit_chain(where.buckets[index], [&](Item) { ++count; });
      // Rejects a bucket the more often, the emptier it is: otherwise its items would be too
      // likely.
      constexpr std::size_t usual = places;
      const auto roll = static_cast<std::size_t>(source() % (count > usual ? count : usual));
      if (roll >= count) continue;
      Item found{};
      std::size_t at = 0;
      visit_chain(where.buckets[index], [&](Item each) {
        if (at++ == roll) found = each;
      });
      return found;
    }
  }

  // A table in a block of its own is charged as its buckets are.
  static void* operator new(std::size_t size) { return allocate(size); }
  static void operator delete(void* memory, std::size_t size) { release(memory, size); }

  /// Moves up to `steps` buckets of a pending growth; reports whether there is more to do.
  bool advance(std::size_t steps = 1) {
    while (is_moving() && steps-- != 0) move_next();
    return is_moving();
  }

 private:
  static constexpr std::size_t places = 7;
  static constexpr std::size_t line = 64;
  static constexpr std::uint8_t chained = 0x80;
  // From this size on, levels are mapped: the kernel provides zeroed pages when they are touched.
  static constexpr std::size_t mapped_from = 256U << 10U;
  static constexpr std::size_t huge_page = 2U << 20U;
  static constexpr std::size_t release_step = huge_page;

  struct alignas(line) bucket {
    std::array<std::uint8_t, places> tags;
    std::uint8_t taken;  // one bit per place; `chained`: the last place points to another bucket
    std::array<Item, places> items;

    [[nodiscard]] bool has_next() const { return (taken & chained) != 0; }
    [[nodiscard]] bucket* next() const { return reinterpret_cast<bucket*>(items[places - 1]); }
    [[nodiscard]] std::uint8_t usable() const { return has_next() ? 0x3F : 0x7F; }
    // Returns the top bit of each byte whose place is taken and whose tag is `tag`; sometimes also
    // of another one, which the comparison of the keys detects.
    [[nodiscard]] std::uint64_t matches(std::uint8_t tag) const {
      std::uint64_t word = 0;
      std::memcpy(&word, this, sizeof word);
      constexpr std::uint64_t ones = 0x0101010101010101;
      const std::uint64_t difference = word ^ (ones * tag);
      const std::uint64_t zero = (difference - ones) & ~difference & (ones << 7U);
      return zero & spread(taken & usable());
    }
    // Moves bit i to the top bit of byte i.
    static std::uint64_t spread(unsigned bits) {
      return ((bits * 0x0002040810204081ULL) & 0x0001010101010101ULL) << 7U;
    }
  };
  static_assert(sizeof(bucket) == line);

  struct level {
    bucket* buckets = nullptr;
    std::uint64_t mask = 0;
    std::size_t count = 0;
    std::size_t chained_buckets = 0;
    [[nodiscard]] std::size_t size() const { return buckets == nullptr ? 0 : mask + 1; }
    [[nodiscard]] std::size_t memory() const { return (size() + chained_buckets) * sizeof(bucket); }
  };

  static std::uint8_t tag_of(std::uint64_t hash) { return static_cast<std::uint8_t>(hash >> 56U); }
  static std::size_t first_of(std::uint64_t matches) {
    return static_cast<std::size_t>(std::countr_zero(matches)) / 8;
  }
  static bucket* bucket_of(Item* place) {
    return reinterpret_cast<bucket*>(reinterpret_cast<std::uintptr_t>(place) & ~(line - 1));
  }

  static void* allocate_line(std::size_t bytes) {
    void* const memory = std::aligned_alloc(line, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    charge(static_cast<std::int64_t>(bytes));
    return memory;
  }
  static void free_line(void* memory, std::size_t bytes) {
    charge(-static_cast<std::int64_t>(bytes));
    std::free(memory);
  }
  static level make_level(std::size_t buckets) {
    const std::size_t bytes = buckets * sizeof(bucket);
    void* memory = nullptr;
    if (bytes >= mapped_from) {
      memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
      // Otherwise nearly every lookup misses the TLB too. It does not matter if the kernel refuses.
      if (bytes >= 2 * huge_page) ::madvise(memory, bytes, MADV_HUGEPAGE);
      charge(static_cast<std::int64_t>(bytes));
    } else {
      memory = std::memset(allocate_line(bytes), 0, bytes);
    }
    return {static_cast<bucket*>(memory), buckets - 1, 0, 0};
  }
  static void free_level(level& level) {
    if (level.buckets == nullptr) return;
    if (level.chained_buckets != 0) {
      for (std::size_t i = 0; i < level.size(); ++i) free_chain(level.buckets[i]);
    }
    free_memory(level);
  }
  static void free_memory(level& level) {
    const std::size_t bytes = level.size() * sizeof(bucket);
    if (bytes >= mapped_from) {
      ::munmap(level.buckets, bytes);
      charge(-static_cast<std::int64_t>(bytes));
    } else {
      free_line(level.buckets, bytes);
    }
    level = {};
  }
  static void free_chain(bucket& head) {
    bucket* each = head.has_next() ? head.next() : nullptr;
    while (each != nullptr) {
      free_line(std::exchange(each, each->has_next() ? each->next() : nullptr), sizeof(bucket));
    }
  }

  [[nodiscard]] bool is_moving() const { return levels_[1].buckets != nullptr; }

  Item* find_in(level& level, std::string_view key, std::uint64_t hash) {
    const auto tag = tag_of(hash);
    bucket* each = &level.buckets[hash & level.mask];
    for (;;) {
      for (auto match = each->matches(tag); match != 0; match &= match - 1) {
        Item& item = each->items[first_of(match)];
        if (same_bytes(KeyOf::key(item), key)) return &item;
      }
      if (!each->has_next()) return nullptr;
      each = each->next();
    }
  }

  static bool holds(level& level, Item* place, std::uint64_t hash) {
    if (level.buckets == nullptr) return false;
    bucket* each = &level.buckets[hash & level.mask];
    const bucket* const wanted = bucket_of(place);
    while (each != wanted && each->has_next()) each = each->next();
    return each == wanted;
  }

  static void put(level& level, Item item, std::uint64_t hash) {
    bucket* each = &level.buckets[hash & level.mask];
    for (;;) {
      const unsigned free = ~each->taken & each->usable();
      if (free != 0) {
        const auto place = static_cast<std::size_t>(std::countr_zero(free));
        each->items[place] = item;
        each->tags[place] = tag_of(hash);
        each->taken = static_cast<std::uint8_t>(each->taken | 1U << place);
        ++level.count;
        return;
      }
      if (!each->has_next()) chain(level, *each);
      each = each->next();
    }
  }
  // Turns the last place of a full bucket into a link to another bucket, which takes the place's
  // item.
  static void chain(level& level, bucket& full) {
    void* const memory = allocate_line(sizeof(bucket));
    auto* const more = static_cast<bucket*>(std::memset(memory, 0, sizeof(bucket)));
    more->items[0] = full.items[places - 1];
    more->tags[0] = full.tags[places - 1];
    more->taken = 1;
    full.items[places - 1] = reinterpret_cast<Item>(more);
    full.taken = 0x3F | chained;
    ++level.chained_buckets;
  }

  static void take_out(level& level, Item* place, std::uint64_t hash) {
    bucket* const from = bucket_of(place);
    const auto index = static_cast<std::size_t>(place - from->items.data());
    from->taken = static_cast<std::uint8_t>(from->taken & ~(1U << index));
    --level.count;
    bucket* before = &level.buckets[hash & level.mask];
    if (from == before || (from->taken & from->usable()) != 0) return;
    while (before->next() != from) before = before->next();
    // Frees an empty bucket in a chain; its successor follows its predecessor.
    if (from->has_next()) {
      before->items[places - 1] = from->items[places - 1];
    } else {
      before->taken = static_cast<std::uint8_t>(before->taken & 0x3F);
    }
    free_line(from, sizeof(bucket));
    --level.chained_buckets;
  }

  void grow_if_full() {
    const level& now = levels_[0];
    if (is_moving() || now.count * 4 < now.size() * places * 3) return;
    levels_[1] = make_level(now.size() * 2);
    moved_ = 0;
  }
  void shrink_if_empty() {
    const level& now = levels_[0];
    if (is_moving() || now.size() <= 1 || now.count * 10 > now.size() * places) return;
    levels_[1] = make_level(std::bit_ceil(now.count * 2 / places + 1));
    moved_ = 0;
  }

  void move_next() {
    level& from = levels_[0];
    bucket& head = from.buckets[moved_];
    // For the next step: the previous step prefetched this one's items.
    if (moved_ + 1 < from.size()) {
      visit_chain(from.buckets[moved_ + 1], [](Item each) { prefetch_line(each); });
    }
    visit_chain(head, [this](Item each) { put(levels_[1], each, hash_of(KeyOf::key(each))); });
    std::size_t gone = 0;
    visit_chain(head, [&gone](Item) { ++gone; });
    from.count -= gone;
    if (empty_next()) {
      free_memory(from);
      std::swap(levels_[0], levels_[1]);
    }
  }
  // Drops the items of the first level's next bucket; returns true if it was the last.
  bool empty_next() {
    level& from = levels_[0];
    bucket& head = from.buckets[moved_];
    for (bucket* each = &head; each->has_next(); each = each->next()) --from.chained_buckets;
    free_chain(head);
    head.taken = 0;
    ++moved_;
    if (moved_ == from.size()) {
      moved_ = 0;
      return true;
    }
    if (const auto done = moved_ * sizeof(bucket); done % release_step == 0) {
      // Ensures that freeing the whole level takes no longer than a step.
      ::madvise(reinterpret_cast<std::byte*>(from.buckets) + done - release_step, release_step,
                MADV_DONTNEED);
    }
    return false;
  }

  template <class Visit>
  static void visit_chain(const bucket& head, Visit&& visit) {
    const bucket* each = &head;
    for (;;) {
      for (unsigned taken = each->taken & each->usable(); taken != 0; taken &= taken - 1) {
        visit(each->items[static_cast<std::size_t>(std::countr_zero(taken))]);
      }
      if (!each->has_next()) return;
      each = each->next();
    }
  }

  // Counts with reversed bits: an item visited in a table stays visited in a table of twice or half
  // the size.
  static std::uint64_t reversed(std::uint64_t value) {
    value = (value >> 1U & 0x5555555555555555) | (value & 0x5555555555555555) << 1U;
    value = (value >> 2U & 0x3333333333333333) | (value & 0x3333333333333333) << 2U;
    value = (value >> 4U & 0x0F0F0F0F0F0F0F0F) | (value & 0x0F0F0F0F0F0F0F0F) << 4U;
    return __builtin_bswap64(value);
  }
  static std::uint64_t next_cursor(std::uint64_t cursor, std::uint64_t mask) {
    return reversed(reversed(cursor | ~mask) + 1);
  }

  std::array<level, 2> levels_;  // the second is used while the first is moved there
  std::size_t moved_ = 0;        // moved buckets of the first
};

}  // namespace strata::runtime::cache
