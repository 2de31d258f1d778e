// One of a cache's databases: its keys, and which of them expire. It knows nothing of clients,
// clocks and events; `keyspace` (keyspace.hpp) does.
#pragma once

#include <random>

#include "runtime/cache/values/entry.hpp"
#include "runtime/cache/values/hash_table.hpp"

namespace strata::runtime::cache {

class database {
 public:
  database() = default;
  database(database&&) noexcept = default;
  database& operator=(database&&) noexcept = default;
  ~database() { clear(); }

  /// Returns the entry of `key`, expired or not, or null. Owned by the database.
  [[nodiscard]] entry* find(std::string_view key, std::uint64_t hash) {
    auto* const place = entries_.find(key, hash);
    return place == nullptr ? nullptr : *place;
  }
  /// Takes ownership of an entry whose key does not exist.
  void add(entry* fresh, std::uint64_t hash);
  /// Replaces `old`, which is destroyed, by `fresh`, of the same key.
  void replace(entry* old, entry* fresh, std::uint64_t hash);
  void remove(entry* which, std::uint64_t hash);
  /// Removes the entry and passes its ownership to the caller.
  [[nodiscard]] entry* release(entry* entry, std::uint64_t hash);
  /// Sets the time of expiry, or `entry::never`; returns the entry, which may have moved.
  entry* set_expiry(entry* entry, std::int64_t at_ms, std::uint64_t hash);
  /// Updates whether the entry, a hash, is among those whose fields expire. Call it after the times
  /// of its fields have changed.
  void note_field_times(entry* entry, std::uint64_t hash);
  /// The number of hashes whose fields expire; it may count some whose fields no longer do.
  [[nodiscard]] std::size_t dated() const { return dated_.size(); }
  template <class Visit>
  std::uint64_t scan_dated(std::uint64_t cursor, Visit&& visit) const {
    return dated_.scan(cursor, visit);
  }
  void clear();
  /// Moves all contents to a new database.
  [[nodiscard]] database take_all();

  // Each entry's mark shows whether a snapshot has written it: it has, if the mark equals the
  // database's.
  [[nodiscard]] bool is_marked(const entry& entry) const { return entry.mark() == mark_; }
  void mark(entry& entry) const { entry.set_mark(mark_); }
  void mark_all();
  /// From now on no entry is marked, if all were before.
  void turn_marks() { mark_ = !mark_; }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t expiring() const { return expiring_.size(); }
  void prefetch_bucket(std::uint64_t hash) const { entries_.prefetch_bucket(hash); }
  void prefetch_entry(std::uint64_t hash) const { entries_.prefetch_item(hash); }

  template <class Visit>
  std::uint64_t scan(std::uint64_t cursor, Visit&& visit) const {
    return entries_.scan(cursor, visit);
  }
  template <class Visit>
  std::uint64_t scan_expiring(std::uint64_t cursor, Visit&& visit) const {
    return expiring_.scan(cursor, visit);
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    entries_.for_each(visit);
  }
  /// Return a random entry; the database must not be empty, or, for the second, not without
  /// expiring keys.
  template <class Random>
  [[nodiscard]] entry* random(Random& source) const {
    return entries_.random(source);
  }
  template <class Random>
  [[nodiscard]] entry* random_expiring(Random& source) const {
    return expiring_.random(source);
  }
  /// Continues growing the tables; reports whether there is more to do.
  bool advance(std::size_t steps) {
    return entries_.advance(steps) | expiring_.advance(steps) | dated_.advance(steps);
  }

 private:
  struct key_of {
    static std::string_view key(const entry* entry) { return entry->key(); }
  };

  void forget_dated(const entry& entry, std::uint64_t hash);

  hash_table<entry*, key_of> entries_;
  hash_table<entry*, key_of> expiring_;  // those of entries_ that expire
  hash_table<entry*, key_of> dated_;     // hashes of entries_ with fields that expire
  bool mark_ = false;
};

}  // namespace strata::runtime::cache
