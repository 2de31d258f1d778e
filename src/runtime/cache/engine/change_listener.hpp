// What hears of a keyspace's changes: a log, a follower's leader.
#pragma once

#include <span>
#include <string_view>

#include "runtime/cache/engine/keyspace_limits.hpp"

namespace strata::runtime::cache {

/// Hears of every change, as a command that repeats it.
class change_listener {
 public:
  virtual void on_change(unsigned database, std::span<const std::string_view> words) = 0;
  /// A key goes that no command removes: `why` is event_expired or event_evicted. `words` repeat
  /// it.
  virtual void on_let_go(unsigned database, std::span<const std::string_view> words,
                         event_class /*why*/) {
    on_change(database, words);
  }
  /// A message was published, with the command PUBLISH or one like it: no change of the data.
  virtual void on_message(std::span<const std::string_view> /*words*/) {}

 protected:
  ~change_listener() = default;
};

}  // namespace strata::runtime::cache
