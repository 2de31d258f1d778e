// Large removed values, which are freed bit by bit: UNLINK, FLUSHALL ASYNC.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "runtime/cache/values/database.hpp"

namespace strata::runtime::cache {

class graveyard {
 public:
  [[nodiscard]] bool empty() const { return values_.empty() && databases_.empty(); }
  /// Takes a value. Frees a small one at once.
  void bury(std::unique_ptr<collection> value);
  void bury(database&& whole);
  /// Frees a part, which takes a few microseconds. Returns how many values are completely freed.
  std::uint64_t free_some();
  /// The number of values still to be freed.
  [[nodiscard]] std::size_t size() const;

 private:
  struct dead_database {
    database data;
    std::uint64_t cursor = 0;
  };
  std::uint64_t free_some_of(dead_database& database);

  std::deque<std::unique_ptr<collection>> values_;
  std::deque<dead_database> databases_;
};

}  // namespace strata::runtime::cache
