// A command being executed, as the engine sees it: on the stack from its acceptance until it has
// replied, with the commands that it executes itself above it.
#pragma once

#include <span>
#include <string_view>

#include "runtime/cache/engine/change_scope.hpp"
#include "runtime/cache/engine/engine.hpp"

namespace strata::runtime::cache {

class execution {
 public:
  /// If another execution is already on the stack, this one is inside it.
  execution(engine& engine, client& client, const command& command,
            std::span<const std::string_view> texts, std::uint64_t first_key_hash)
      : who(client),
        what(command),
        words(texts),
        engine_(engine),
        hash_(first_key_hash),
        changes_(engine.keys().changes(), client.is_replay) {}
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;

  client& who;
  const command& what;
  std::span<const std::string_view> words;  ///< the command's name is the first

  [[nodiscard]] bool is_inside() const { return changes_.is_inside(); }
  /// Reports whether it may wait. Inside another command, and for a client that must not wait, it
  /// must reply at once.
  [[nodiscard]] bool may_block() const { return !is_inside() && who.may_block; }
  [[nodiscard]] bool has_failed() const { return failed_; }
  /// Reports whether it waits for a key, and will be executed again.
  [[nodiscard]] bool is_waiting() const { return waits_; }

  // --- what is propagated
  /// Reports whether it has changes that are not propagated to the listeners yet.
  [[nodiscard]] bool has_to_be_propagated() const {
    return changes_.has_changes() && !propagated_ && what.has(flag_write);
  }
  /// Propagates nothing for this command, only for the commands inside it.
  void propagate_nothing() { propagated_ = true; }
  /// From here on, propagates its changes, and those of commands inside it, as one transaction.
  void propagate_together() { changes_.propagate_together(); }
  /// Leaves the transaction of its changes, if one has begun, without an end.
  void abandon_changes() { changes_.abandon(); }
  /// Reports whether it, or a command inside it, has changed anything.
  [[nodiscard]] bool has_changed_data() const { return changes_.has_changes(); }

 protected:
  engine& engine_;
  std::uint64_t hash_;
  bool failed_ = false;
  bool propagated_ = false;
  bool waits_ = false;

 private:
  change_scope changes_;
};

}  // namespace strata::runtime::cache
