// The memory that the connections of one shard of a server hold, and its limit.
//
// For the shard's loop.
#pragma once

#include <cstdint>

#include "serve/memory_watch.hpp"

namespace strata::runtime::server {

class shard;

class connection_memory {
 public:
  /// The shard outlives it.
  explicit connection_memory(shard& shard);

  /// Reports that connections hold at most `bytes` more from now on.
  void grew(std::size_t bytes) { watch_.grew(bytes); }
  /// Checks soon: the limit has changed.
  void look_soon() { watch_.look_soon(); }

 private:
  /// The shard's part of --max-memory-connections; 0: none.
  [[nodiscard]] std::uint64_t limit() const;
  /// Sums up what connections hold, and ends some if it is too much.
  serve::memory_watch::view check();
  void let_go(std::uint64_t held);

  shard& home_;
  serve::memory_watch watch_;
};

}  // namespace strata::runtime::server
