// A cache's data and everything that belongs to it: the databases, their memory, the time by which
// their keys expire, and the stream of their changes. It knows no clients, and no settings but its
// limits. No I/O, one thread.
#pragma once

#include <functional>
#include <random>
#include <span>
#include <vector>

#include "loop/timer.hpp"
#include "runtime/cache/engine/change_guard.hpp"
#include "runtime/cache/engine/change_stream.hpp"
#include "runtime/cache/engine/engine_clock.hpp"
#include "runtime/cache/engine/key_observer.hpp"
#include "runtime/cache/engine/scripts/function_texts.hpp"
#include "runtime/cache/values/database.hpp"
#include "runtime/cache/values/graveyard.hpp"

namespace strata::runtime::cache {

/// Counters since the cache was started, or since CONFIG RESETSTAT.
struct key_counters {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t expired = 0;
  std::uint64_t expired_fields = 0;
  std::uint64_t evicted = 0;
  std::uint64_t freed_later = 0;       ///< values that were freed later than they were removed
  std::uint64_t expiry_overruns = 0;   ///< searches for expired keys that ran out of time
  std::uint64_t checked_payloads = 0;  ///< of RESTORE
  /// The estimated part of the keys with a time that have expired and are not removed yet.
  double expired_part = 0;
};

class keyspace {
 public:
  static constexpr unsigned database_count = 16;

  /// Both must outlive the keyspace; the limits may change at any time.
  keyspace(const keyspace_limits& limits, const engine_clock& clock);
  keyspace(const keyspace&) = delete;
  keyspace& operator=(const keyspace&) = delete;

  [[nodiscard]] const keyspace_limits& limits() const { return limits_; }
  [[nodiscard]] const engine_clock& clock() const { return clock_; }
  [[nodiscard]] std::mt19937_64& random() { return random_; }
  [[nodiscard]] key_counters& counted() { return counters_; }

  // --- time
  /// Sets the time by which keys expire until the next call, in milliseconds since 1970.
  void set_time(std::int64_t now_ms) {
    now_ms_ = now_ms;
    access_clock_ = static_cast<std::uint32_t>(now_ms / 1000);
  }
  [[nodiscard]] std::int64_t now_ms() const { return now_ms_; }
  [[nodiscard]] std::uint32_t access_clock() const { return access_clock_; }

  // --- keys
  [[nodiscard]] database& operator[](unsigned index) { return databases_[index]; }
  /// Returns the entry, unless it has expired: then removes it. The fields of a hash expire in the
  /// same way, and a hash whose last field has expired is removed.
  [[nodiscard]] entry* find(unsigned index, std::string_view key, std::uint64_t hash) {
    entry* found = databases_[index].find(key, hash);
    if (found != nullptr && found->has_expiry()) found = unless_expired(index, found, hash);
    if (found == nullptr || found->type() != value_kind::hash || databases_[index].dated() == 0) {
      return found;
    }
    return without_overdue_fields(index, found, hash);
  }
  /// Removes an existing key, and reports it to the observer, but not to the listeners.
  void remove(unsigned index, entry* which, std::uint64_t hash, event_class why,
              std::string_view event);
  /// Empties a database; if `later`, its contents are freed bit by bit.
  void clear(unsigned index, bool later = false);
  /// Swaps two databases.
  void swap(unsigned first, unsigned second);
  /// Frees its value later, bit by bit. The entry can then only be removed.
  void free_later(entry& entry) {
    if (!entry.is_string()) graveyard_.bury(entry.take_object());
  }
  void free_later(database&& whole) { graveyard_.bury(std::move(whole)); }
  /// The number of values still to be freed.
  [[nodiscard]] std::size_t values_to_free() const { return graveyard_.size(); }

  // --- telling of keys
  /// Sets the observer of keys; null for none.
  void set_observer(key_observer* one) { observer_ = one; }
  /// The observer's reasons to receive touched keys.
  [[nodiscard]] attention& watchfulness() { return attention_; }
  /// Reports that the key's value has changed.
  void touch(unsigned index, std::string_view key) {
    if (attention_.is_paid()) observer_->on_touch(index, key);
  }
  void notify(event_class what, std::string_view event, std::string_view key, unsigned index) {
    if ((limits_.events & what) != 0) publish_event(event, key, index);
  }

  // --- changes
  /// The changes on their way to the listeners.
  [[nodiscard]] change_stream& changes() { return changes_; }
  [[nodiscard]] function_texts& functions() { return functions_; }
  /// Sets the guard, which sees data before it changes, until it is removed by null; one at a time.
  void set_guard(change_guard* one);
  [[nodiscard]] bool is_guarded() const { return guard_ != nullptr; }
  /// Set while the command that changes the data is interrupted: no guard may be set then, since
  /// the data is between two states.
  void set_interrupted(bool enabled);
  [[nodiscard]] bool admits_guard() const { return guard_ == nullptr && !is_interrupted_; }
  /// `callback` is called when a guard may be set again.
  void on_guard_admitted(std::function<void()> callback) {
    on_guard_admitted_ = std::move(callback);
  }
  /// Called when a command that writes is about to be executed.
  void before_command(unsigned index, const command& command,
                      std::span<const std::string_view> words) {
    if (guard_ != nullptr) guard_->before_command(index, command, words);
  }
  /// Called when a command is about to change this key, which is not among its keys in the client's
  /// database.
  void before_change(unsigned index, std::string_view key) {
    if (guard_ != nullptr) guard_->before_change(index, key);
  }

  // --- letting keys go
  /// While enabled, keys do not expire by themselves: the leader, or the log being read, determines
  /// which have expired.
  void set_expires_by_leader(bool enabled) { expires_by_leader_ = enabled; }
  [[nodiscard]] bool expires_by_leader() const { return expires_by_leader_; }
  void set_active_expiry(bool enabled) { expires_actively_ = enabled; }
  /// Does work that is not urgent, for at most `budget`: removes expired keys if it `may_expire`,
  /// frees removed values, grows tables. Returns false if there is more to do.
  bool tidy(loop::duration budget, bool may_expire);
  /// Reports whether its memory is within the limit, which must be set.
  [[nodiscard]] bool has_room() const { return memory_ <= limits_.maxmemory; }
  /// Evicts keys until there is room. Returns false if there is none, and no key that may be
  /// evicted.
  bool make_room();

  [[nodiscard]] std::int64_t memory() const { return memory_; }
  [[nodiscard]] std::int64_t& memory_account() { return memory_; }
  [[nodiscard]] std::int64_t peak_memory() const { return peak_memory_; }

 private:
  [[nodiscard]] entry* unless_expired(unsigned index, entry* entry, std::uint64_t hash);
  // Both in field_expiry.cpp.
  [[nodiscard]] entry* without_overdue_fields(unsigned index, entry* entry, std::uint64_t hash);
  bool expire_fields(unsigned index, std::int64_t deadline_us);
  void publish_event(std::string_view event, std::string_view key, unsigned index);
  void let_go(unsigned index, entry* entry, std::uint64_t hash, event_class why,
              std::string_view event);
  bool expire_some(unsigned index, std::int64_t deadline_us);
  void estimate_expired();
  bool evict_one();

  const keyspace_limits& limits_;
  const engine_clock& clock_;
  std::int64_t memory_ = 0;
  std::int64_t peak_memory_ = 0;
  std::vector<database> databases_;
  graveyard graveyard_;
  key_counters counters_;
  std::mt19937_64 random_;
  std::int64_t now_ms_ = 0;
  std::uint32_t access_clock_ = 0;
  attention attention_;
  key_observer* observer_ = nullptr;
  change_stream changes_;
  function_texts functions_;
  change_guard* guard_ = nullptr;
  bool is_interrupted_ = false;
  std::function<void()> on_guard_admitted_;
  std::vector<std::uint64_t> expiry_cursors_;
  std::vector<std::uint64_t> field_cursors_;
  unsigned expiry_database_ = 0;
  std::uint64_t checked_for_expiry_ = 0;  // since the last estimate, as is the following
  std::uint64_t found_expired_ = 0;
  bool expires_by_leader_ = false;
  bool expires_actively_ = true;
};

}  // namespace strata::runtime::cache
