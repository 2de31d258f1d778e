// Listeners to a keyspace's changes: the log, and the leader for its followers.
#pragma once

#include <span>
#include <string_view>

#include "runtime/cache/engine/keyspace_limits.hpp"

namespace strata::runtime::cache {

/// Receives every change, as a command that repeats it.
class change_listener {
 public:
  virtual void on_change(unsigned database, std::span<const std::string_view> words) = 0;
  /// Called when a key is removed without a command: `why` is event_expired or event_evicted.
  /// `words` is a command that repeats the removal.
  virtual void on_let_go(unsigned database, std::span<const std::string_view> words,
                         event_class /*why*/) {
    on_change(database, words);
  }
  /// Called when a message was published, by PUBLISH or a similar command: not a change of the
  /// data.
  virtual void on_message(std::span<const std::string_view> /*words*/) {}

 protected:
  ~change_listener() = default;
};

}  // namespace strata::runtime::cache
