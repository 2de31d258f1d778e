// The origin of a keyspace's changes: a scope on the stack for each command that is executed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cache/engine/change_stream.hpp"

namespace strata::runtime::cache {

/// While this is the innermost scope, changes in the stream belong to it. Scopes end in the order
/// of the stack.
class change_scope {
 public:
  /// `replays`: it repeats a command that was executed elsewhere, by whose clock keys expire.
  change_scope(change_stream& stream, bool replays)
      : stream_(stream),
        outer_(stream.scope_),
        group_(outer_ == nullptr ? nullptr : outer_->group_),
        total_before_(stream.total_),
        replays_(replays) {
    stream.scope_ = this;
  }
  ~change_scope() {
    stream_.scope_ = outer_;
    if (!is_abandoned_ && (held_ || is_begun_)) end();
  }
  change_scope(const change_scope&) = delete;
  change_scope& operator=(const change_scope&) = delete;

  /// From here on, propagates the changes in this scope and in scopes inside it as one transaction,
  /// which ends with the scope; then a single change is propagated by itself, as Redis does. A
  /// scope inside a transaction is part of it already.
  void propagate_together() {
    if (group_ == nullptr) group_ = this;
  }
  /// Leaves the transaction, if it has begun, without an end: what reads the changes discards it.
  void abandon() { is_abandoned_ = true; }
  [[nodiscard]] bool is_inside() const { return outer_ != nullptr; }
  [[nodiscard]] bool replays() const { return replays_; }
  /// Reports whether anything has changed since the scope began.
  [[nodiscard]] bool has_changes() const { return stream_.total_ != total_before_; }

 private:
  friend class change_stream;
  /// A change that was not propagated yet.
  struct held_change {
    unsigned database;
    std::vector<std::string> words;
    std::optional<event_class> removal;  ///< why the key was removed; none: by a command
  };

  /// Called before a change is propagated. Returns whether it is propagated later: it is the first
  /// one of a transaction.
  [[nodiscard]] bool hold(unsigned database, std::span<const std::string_view> words,
                          std::optional<event_class> removal) {
    return group_ != nullptr && group_->hold_first(database, words, removal);
  }
  /// Called before a message is propagated, which keeps its place among the changes.
  void release() {
    if (group_ != nullptr && group_->held_) group_->begin();
  }
  bool hold_first(unsigned database, std::span<const std::string_view> words,
                  std::optional<event_class> removal);
  void begin();
  void end();
  void propagate_held();
  void notify(std::string_view word) const;

  change_stream& stream_;
  change_scope* outer_;
  change_scope* group_;  // of the transaction to propagate; null: each change by itself
  std::uint64_t total_before_;
  unsigned database_ = 0;  // of the last change of the group
  std::optional<held_change> held_;
  bool is_begun_ = false;
  bool is_abandoned_ = false;
  bool replays_;
};

}  // namespace strata::runtime::cache
