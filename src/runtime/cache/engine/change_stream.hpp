// A keyspace's changes on their way to its listeners: their count, the listeners, and the scopes
// that make several changes one transaction.
//
// The keyspace owns it; the listeners are owned by others. It costs a test while nobody listens. No
// I/O, one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/cache/engine/change_listener.hpp"

namespace strata::runtime::cache {

class change_scope;

class change_stream {
 public:
  change_stream() = default;
  change_stream(const change_stream&) = delete;
  change_stream& operator=(const change_stream&) = delete;

  /// Counts changes that will be propagated to listeners, and that count for "save".
  void record(std::uint64_t count = 1) { total_ += count; }
  /// The number of changes since the cache was started.
  [[nodiscard]] std::uint64_t total() const { return total_; }
  /// Propagates a change to the listeners, as a command that repeats it.
  void propagate(unsigned database, std::span<const std::string_view> words) {
    if (!listeners_.empty()) notify_listeners(database, words);
  }
  /// Propagates the removal of a key without a command: `why` is event_expired or event_evicted.
  void propagate_removal(unsigned database, std::span<const std::string_view> words,
                         event_class why);
  /// Propagates a message that was published: not a change.
  void propagate_message(std::span<const std::string_view> words);

  /// `listener` must outlive the stream, or be removed.
  void add_listener(change_listener& listener) { listeners_.push_back(&listener); }
  void remove_listener(change_listener& listener) { std::erase(listeners_, &listener); }
  [[nodiscard]] bool has_listeners() const { return !listeners_.empty(); }

  /// Reports whether the command that is being executed was executed elsewhere before, by whose
  /// clock keys expire.
  [[nodiscard]] bool is_replayed() const;

 private:
  friend class change_scope;
  void notify_listeners(unsigned database, std::span<const std::string_view> words);

  std::uint64_t total_ = 0;
  change_scope* scope_ = nullptr;  // the innermost; null: no command is being executed
  std::vector<change_listener*> listeners_;
};

}  // namespace strata::runtime::cache
