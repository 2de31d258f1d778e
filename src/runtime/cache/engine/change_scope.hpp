// Whose doing a keyspace's changes are: a scope on the stack for each command that is executed.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/cache/engine/keyspace.hpp"

namespace strata::runtime::cache {

/// While it lives, and none lives inside it, what changes in the keyspace is its doing. Scopes end
/// in the order that the stack gives them.
class change_scope {
 public:
  /// `replays`: it repeats what was executed elsewhere, by whose clock keys expire.
  change_scope(keyspace& keyspace, bool replays)
      : of_(keyspace),
        outer_(keyspace.scope_),
        group_(outer_ == nullptr ? nullptr : outer_->group_),
        changes_before_(keyspace.changes_),
        replays_(replays) {
    keyspace.scope_ = this;
  }
  ~change_scope() {
    of_.scope_ = outer_;
    if (is_begun_) tell("EXEC");
  }
  change_scope(const change_scope&) = delete;
  change_scope& operator=(const change_scope&) = delete;

  /// From here on, what changes in this scope and in those inside it is propagated as one
  /// transaction, which ends with the scope. A scope inside such a one is part of that already.
  void propagate_together() {
    if (group_ == nullptr) group_ = this;
  }
  [[nodiscard]] bool is_inside() const { return outer_ != nullptr; }
  [[nodiscard]] bool replays() const { return replays_; }
  /// Something has changed since it began.
  [[nodiscard]] bool has_changes() const { return of_.changes_ != changes_before_; }

 private:
  friend class keyspace;
  /// To be called before a change is told.
  void begin_group(unsigned database) {
    if (group_ != nullptr) group_->begin(database);
  }
  void begin(unsigned database);
  void tell(std::string_view word) const;

  keyspace& of_;
  change_scope* outer_;
  change_scope* group_;  // as part of which it is propagated; null: each change by itself
  std::uint64_t changes_before_;
  unsigned database_ = 0;  // of the last change of the group
  bool is_begun_ = false;
  bool replays_;
};

}  // namespace strata::runtime::cache
