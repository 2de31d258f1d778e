// A cache without its connections: databases, and all that commands share. It executes commands for
// clients (client.hpp) and tells them what they hear of each other. No I/O, no clock of its own,
// one thread.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <random>
#include <span>
#include <vector>

#include "runtime/cache/engine/blocked_clients.hpp"
#include "runtime/cache/engine/client.hpp"
#include "runtime/cache/engine/database.hpp"
#include "runtime/cache/engine/graveyard.hpp"
#include "runtime/cache/engine/latency.hpp"
#include "runtime/cache/engine/parameters.hpp"
#include "runtime/cache/engine/pause.hpp"
#include "runtime/cache/engine/pubsub.hpp"
#include "runtime/cache/engine/slow_log.hpp"
#include "runtime/cache/engine/tracking.hpp"
#include "runtime/cache/engine/watched_keys.hpp"

namespace strata::runtime::cache {

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
  /// A message was published, with the command PUBLISH or one like it: no change of the data.
  virtual void on_message(std::span<const std::string_view> /*words*/) {}

 protected:
  ~change_listener() = default;
};

class change_guard;
class keeper;
class replicator;

/// Why changes may be refused.
enum class obstacle : std::uint8_t { log_fails, save_fails, follows };
inline constexpr std::size_t obstacle_count = 3;

class engine {
 public:
  static constexpr unsigned database_count = 16;

  /// While it lives, what changes is propagated as one transaction. One inside another is part of
  /// that.
  class changes_together {
   public:
    explicit changes_together(engine& in);
    ~changes_together();
    changes_together(const changes_together&) = delete;
    changes_together& operator=(const changes_together&) = delete;

   private:
    friend class engine;
    void begin(unsigned database);
    void tell(std::string_view word) const;

    engine& in_;
    unsigned database_ = 0;  // of the last change
    bool is_begun_ = false;
  };

  engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  // --- driving it
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
  [[nodiscard]] database& operator[](unsigned index) { return databases_[index]; }
  /// The entry, unless it has expired: then it is removed.
  [[nodiscard]] entry* find(unsigned index, std::string_view key, std::uint64_t hash) {
    entry* const found = databases_[index].find(key, hash);
    return found == nullptr || !found->has_expiry() ? found : unless_expired(index, found, hash);
  }
  /// Removes a key that is there, and says so to all whom it concerns but the listeners.
  void remove(unsigned index, entry* which, std::uint64_t hash, event_class why,
              std::string_view event);
  /// The key's value has changed: for WATCH, and for clients that wait for it.
  void touch(unsigned index, std::string_view key) {
    if (!watched_.empty()) watched_.touch(index, key);
    if (!blocked_.empty()) blocked_.touch(index, key);
    if (!tracking_.empty()) tracking_.touch(key);
  }
  /// Its value will be freed later, bit by bit. The entry is good only to be removed.
  void free_later(entry& of) {
    if (!of.is_string()) graveyard_.bury(of.take_object());
  }
  /// Exchanges two databases.
  void swap(unsigned first, unsigned second);
  void free_later(database&& whole) { graveyard_.bury(std::move(whole)); }
  /// Empties a database; what it held is freed bit by bit if `later`.
  void clear(unsigned index, bool later = false);
  void notify(event_class what, std::string_view event, std::string_view key, unsigned index) {
    if ((parameters_.events & what) != 0) publish_event(what, event, key, index);
  }
  /// A command is about to change this key, which is none of the keys that its words name in the
  /// client's database.
  void before_change(unsigned index, std::string_view key);
  /// Something changed that listeners will hear of, and that counts for "save".
  void count_change(std::uint64_t count = 1) { changes_ += count; }
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  void propagate(unsigned index, std::span<const std::string_view> words);
  void add_listener(change_listener& who) { listeners_.push_back(&who); }
  void remove_listener(change_listener& who) { std::erase(listeners_, &who); }
  [[nodiscard]] bool has_listeners() const { return !listeners_.empty(); }
  /// What keeps the data on the disk, or null.
  void set_keeper(keeper* who) { keeper_ = who; }
  [[nodiscard]] keeper* kept_by() const { return keeper_; }
  /// Sees data before it changes, until it is taken away by null; one at a time.
  void set_guard(change_guard* one);
  [[nodiscard]] bool is_guarded() const { return guard_ != nullptr; }
  /// Called when the guard has been taken away.
  void on_unguarded(std::function<void()> told) { on_unguarded_ = std::move(told); }
  /// What speaks with other caches, or null.
  void set_replicator(replicator* who) { replicator_ = who; }
  [[nodiscard]] replicator* replicated_by() const { return replicator_; }
  void propagate_message(std::span<const std::string_view> words) {
    for (auto* each : listeners_) each->on_message(words);
  }
  /// Because of that, commands that change data get this error; empty: they do not.
  void refuse_changes(obstacle because, std::string error);
  /// The data is being put there: nobody may look at it.
  void set_loading(bool is);
  [[nodiscard]] bool is_loading() const { return is_loading_; }
  /// What it follows, or the log that it reads, says which keys have expired: they do not expire
  /// by themselves.
  void set_expires_by_leader(bool is) { expires_by_leader_ = is; }
  void set_active_expiry(bool is) { expires_actively_ = is; }
  [[nodiscard]] bool expires_by_leader() const { return expires_by_leader_; }

  [[nodiscard]] parameters& settings() { return parameters_; }
  [[nodiscard]] const parameters& settings() const { return parameters_; }
  /// Sets what a client has changed, and tells `on_configured`.
  void configure(parameters changed);
  /// `told` hears which options a client has changed (none of them, perhaps), and their values.
  void on_configured(std::function<void(const nlohmann::json& options)> told) {
    on_configured_ = std::move(told);
  }
  [[nodiscard]] pubsub& channels() { return pubsub_; }
  [[nodiscard]] watched_keys& watched() { return watched_; }
  [[nodiscard]] blocked_clients& blocked() { return blocked_; }
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
  /// Ends what the client of that id waits for; `reply` says how. Nothing if it does not wait.
  void answer(std::uint64_t id, const std::function<void(client&)>& reply);
  /// Ends what `who` waits for, with nothing.
  void give_up_waiting(client& who);

 private:
  [[nodiscard]] entry* unless_expired(unsigned index, entry* found, std::uint64_t hash);
  [[nodiscard]] bool takes_fast_path(const client& who, std::size_t words,
                                     const command* what) const {
    return what != nullptr && what->is_plain && what->takes(words) && who.is_trusted &&
           !who.in_transaction && parameters_.maxmemory == 0 && !who.is_subscribed() &&
           !is_restricted_ && parameters_.access == permission::admin;
  }
  void run(client& who, std::span<const std::string_view> words, const command& what,
           std::uint64_t hash);
  [[nodiscard]] const command* accept(client& who, std::span<const std::string_view> words,
                                      const command* what);
  void refuse(client& who, const command& what, std::string text);
  [[nodiscard]] std::string_view reason_to_refuse(const client& who, const command& what);
  bool postpone(client& who, const command& what);
  void count_time(client& who, std::span<const std::string_view> words, const command& what,
                  std::int64_t us, bool is_waiting);
  void note_latency(std::string_view event, std::int64_t us);
  void touch_database(unsigned index);
  [[nodiscard]] bool make_room(const command& what);
  bool evict_one();
  void serve_waiting();
  /// A whole database has been emptied.
  void touch_all(unsigned index);
  void publish_event(event_class what, std::string_view event, std::string_view key,
                     unsigned index);
  void show_to_monitors(const client& who, std::span<const std::string_view> words);
  bool tidy(std::int64_t began_us, loop::duration budget);
  bool expire_some(unsigned index, std::int64_t deadline_us);

  std::int64_t memory_ = 0;
  std::int64_t peak_memory_ = 0;
  std::vector<database> databases_;
  parameters parameters_;
  std::function<void(const nlohmann::json&)> on_configured_;
  pubsub pubsub_;
  watched_keys watched_;
  blocked_clients blocked_;
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
  changes_together* together_ = nullptr;  // null: each change is propagated by itself
  bool has_monitors_ = false;
  bool expires_by_leader_ = false;
  bool expires_actively_ = true;
  change_guard* guard_ = nullptr;
  std::function<void()> on_unguarded_;
  keeper* keeper_ = nullptr;
  replicator* replicator_ = nullptr;
  std::array<std::string, obstacle_count> refusals_;
  bool is_loading_ = false;
  bool is_restricted_ = false;  // one of those, or loading
  bool is_replaying_ = false;   // while a replayed command runs
};

}  // namespace strata::runtime::cache
