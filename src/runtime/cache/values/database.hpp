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

  /// The entry of `key`, expired or not, or null. Owned by the database.
  [[nodiscard]] entry* find(std::string_view key, std::uint64_t hash) {
    auto* const place = entries_.find(key, hash);
    return place == nullptr ? nullptr : *place;
  }
  /// Takes an entry whose key is not there.
  void add(entry* fresh, std::uint64_t hash);
  /// Puts `fresh`, of the same key, in the place of `old`, which is destroyed.
  void replace(entry* old, entry* fresh, std::uint64_t hash);
  void remove(entry* which, std::uint64_t hash);
  /// Takes it out and hands it over.
  [[nodiscard]] entry* release(entry* entry, std::uint64_t hash);
  /// Sets the time of expiry, or `entry::never`; returns the entry, which may have moved.
  entry* set_expiry(entry* entry, std::int64_t at_ms, std::uint64_t hash);
  void clear();
  /// Hands all that it holds to another one.
  [[nodiscard]] database take_all();

  // A snapshot tells by each entry's mark whether it has written it: it has, if the mark is like
  // the database's.
  [[nodiscard]] bool is_marked(const entry& entry) const { return entry.mark() == mark_; }
  void mark(entry& entry) const { entry.set_mark(mark_); }
  void mark_all();
  /// From now on no entry is marked, if all were.
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
  /// Any entry; the database must not be empty, nor, for the second, be without expiring keys.
  template <class Random>
  [[nodiscard]] entry* random(Random& source) const {
    return entries_.random(source);
  }
  template <class Random>
  [[nodiscard]] entry* random_expiring(Random& source) const {
    return expiring_.random(source);
  }
  /// Goes on with growing tables; says whether there is more to do.
  bool advance(std::size_t steps) { return entries_.advance(steps) | expiring_.advance(steps); }

 private:
  struct key_of {
    static std::string_view key(const entry* entry) { return entry->key(); }
  };

  hash_table<entry*, key_of> entries_;
  hash_table<entry*, key_of> expiring_;  // those of entries_ that expire
  bool mark_ = false;
};

}  // namespace strata::runtime::cache
