// A cache without its connections: databases, and all that commands share. It executes commands for
// clients (client.hpp) and tells them what they hear of each other. No I/O, no clock of its own,
// one thread.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "runtime/cache/client.hpp"
#include "runtime/cache/database.hpp"
#include "runtime/cache/graveyard.hpp"
#include "runtime/cache/latency.hpp"
#include "runtime/cache/parameters.hpp"
#include "runtime/cache/pause.hpp"
#include "runtime/cache/pubsub.hpp"
#include "runtime/cache/slow_log.hpp"
#include "runtime/cache/tracking.hpp"
#include "runtime/cache/waiters.hpp"
#include "runtime/cache/watchers.hpp"

namespace strata::runtime {

/// Counted since the cache was started, or since CONFIG RESETSTAT.
struct engine_counters {
  std::uint64_t commands = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t expired = 0;
  std::uint64_t evicted = 0;
  std::uint64_t connections = 0;
  std::uint64_t rejected = 0;
  std::uint64_t errors = 0;
};

struct command_counters {
  std::uint64_t calls = 0;
  std::uint64_t us = 0;
  std::uint64_t rejected = 0;
  std::uint64_t failed = 0;
  time_histogram times;  ///< of those calls whose time was taken
};

/// Hears of every change, as a command that repeats it: a log, a follower.
class change_listener {
 public:
  virtual void on_change(unsigned database, std::span<const std::string_view> words) = 0;

 protected:
  ~change_listener() = default;
};

class engine {
 public:
  static constexpr unsigned database_count = 16;

  engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  // --- driving it
  // ----------------------------------------------------------------------------------
  /// The time by which keys expire until the next call, in milliseconds since 1970.
  void set_time(std::int64_t now_ms);
  [[nodiscard]] std::int64_t now_ms() const { return now_ms_; }
  /// Executes one command and writes its reply. `hash` is that of its first key, if `what` is not
  /// null and has one.
  void execute(client& who, std::span<const std::string_view> words, const command* what,
               std::uint64_t hash);
  void execute(client& who, std::span<const std::string_view> words);
  /// To be called now and then, some ten times a second: removes expired keys, for at most
  /// `budget`, and ends waits that are over. False: there is more to do.
  bool tick(loop::duration budget);
  /// When the next waiting client's time is over, or a pause.
  [[nodiscard]] std::optional<std::int64_t> next_deadline_ms() const;
  /// To be called when some commands have been executed: tells of what they changed.
  void end_batch() {
    if (!tracking_.empty()) tracking_.broadcast();
  }
  void enter(client& arrived);
  /// Forgets a client, with all that it watched, waited for and was subscribed to.
  void leave(client& gone);

  // --- for commands
  // --------------------------------------------------------------------------------
  [[nodiscard]] database& operator[](unsigned index) { return databases_[index]; }
  /// The entry, unless it has expired: then it is removed.
  [[nodiscard]] entry* find(unsigned index, std::string_view key, std::uint64_t hash) {
    entry* const found = databases_[index].find(key, hash);
    return found == nullptr || !found->has_expiry() ? found : unless_expired(index, found, hash);
  }
  /// Removes a key that is there, and says so to all whom it concerns but the listeners.
  void remove(unsigned index, entry* which, std::uint64_t hash, event_class why,
              std::string_view event);
  /// The key's value has changed: for WATCH, and for who waits for it.
  void touch(unsigned index, std::string_view key) {
    if (!watchers_.empty()) watchers_.touch(index, key);
    if (!waiters_.empty()) waiters_.touch(index, key);
    if (!tracking_.empty()) tracking_.touch(key);
  }
  /// Its value will be freed later, bit by bit. The entry is good only to be removed.
  void free_later(entry& of) {
    if (!of.is_string()) graveyard_.bury(of.take_object());
  }
  void empty_later(unsigned index) { graveyard_.bury(std::move(databases_[index])); }
  /// Exchanges two databases.
  void swap(unsigned first, unsigned second);
  /// A whole database has been emptied.
  void touch_all(unsigned index);
  void notify(event_class what, std::string_view event, std::string_view key, unsigned index) {
    if ((parameters_.events & what) != 0) publish_event(what, event, key, index);
  }
  /// Something changed that listeners will hear of, and that counts for "save".
  void count_change(std::uint64_t count = 1) { changes_ += count; }
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  void propagate(unsigned index, std::span<const std::string_view> words);
  void add_listener(change_listener& who) { listeners_.push_back(&who); }
  [[nodiscard]] bool has_listeners() const { return !listeners_.empty(); }

  [[nodiscard]] parameters& settings() { return parameters_; }
  [[nodiscard]] pubsub& channels() { return pubsub_; }
  [[nodiscard]] watchers& watching() { return watchers_; }
  [[nodiscard]] waiters& waiting() { return waiters_; }
  [[nodiscard]] slow_log& slow() { return slow_log_; }
  [[nodiscard]] tracking& trackers() { return tracking_; }
  [[nodiscard]] pause& pausing() { return pause_; }
  [[nodiscard]] latency_log& latencies() { return latency_; }
  [[nodiscard]] engine_counters& counted() { return counters_; }
  [[nodiscard]] std::vector<command_counters>& counted_commands() { return command_counters_; }
  [[nodiscard]] std::vector<client*>& clients() { return clients_; }
  [[nodiscard]] std::mt19937_64& random() { return random_; }
  [[nodiscard]] std::int64_t memory() const { return memory_; }
  [[nodiscard]] std::int64_t& memory_account() { return memory_; }
  [[nodiscard]] std::int64_t peak_memory() const { return peak_memory_; }
  [[nodiscard]] std::int64_t started_ms() const { return started_ms_; }
  [[nodiscard]] std::uint32_t access_clock() const { return access_clock_; }
  /// Executes what a transaction has queued.
  void execute_queued(client& who);
  /// A client waits on: it was tried again in vain.
  void wait_on() { was_served_ = false; }
  void set_has_monitors() { has_monitors_ = true; }
  /// Ends what `who` waits for, with nothing.
  void give_up_waiting(client& who);

 private:
  [[nodiscard]] entry* unless_expired(unsigned index, entry* found, std::uint64_t hash);
  [[nodiscard]] bool needs_no_look(const client& who, std::size_t words,
                                   const command* what) const {
    return what != nullptr && what->is_plain && what->takes(words) && who.is_trusted &&
           !who.in_transaction && parameters_.maxmemory == 0 && !who.is_subscribed();
  }
  void run(client& who, std::span<const std::string_view> words, const command& what,
           std::uint64_t hash);
  [[nodiscard]] const command* accept(client& who, std::span<const std::string_view> words,
                                      const command* what);
  void refuse(client& who, const command& what, std::string text);
  bool postpone(client& who, const command& what);
  void count_time(client& who, std::span<const std::string_view> words, const command& what,
                  std::int64_t us, bool is_waiting);
  void note_latency(std::string_view event, std::int64_t us);
  void touch_database(unsigned index);
  [[nodiscard]] bool make_room(const command& what);
  bool evict_one();
  void serve_waiting();
  void publish_event(event_class what, std::string_view event, std::string_view key,
                     unsigned index);
  void show_to_monitors(const client& who, std::span<const std::string_view> words);
  bool tidy(std::int64_t began_us, loop::duration budget);
  bool expire_some(unsigned index, std::int64_t deadline_us);

  std::int64_t memory_ = 0;
  std::int64_t peak_memory_ = 0;
  std::vector<database> databases_;
  parameters parameters_;
  pubsub pubsub_;
  watchers watchers_;
  waiters waiters_;
  slow_log slow_log_;
  tracking tracking_;
  pause pause_;
  latency_log latency_;
  graveyard graveyard_;
  engine_counters counters_;
  std::vector<command_counters> command_counters_;
  std::vector<client*> clients_;
  std::vector<change_listener*> listeners_;
  std::mt19937_64 random_;
  std::int64_t now_ms_ = 0;
  std::int64_t started_ms_ = 0;
  std::uint32_t access_clock_ = 0;
  std::uint64_t changes_ = 0;
  std::uint64_t next_client_ = 1;
  std::vector<std::uint64_t> expiry_cursors_;
  unsigned expiry_database_ = 0;
  bool is_serving_ = false;
  bool was_served_ = false;
  bool in_transaction_ = false;
  bool transaction_told_ = false;
  bool has_monitors_ = false;
};

}  // namespace strata::runtime
