// A short text that is the same for the same data, however it is laid out: for tests that compare
// two caches, or one before and after.
#pragma once

#include <string>
#include <string_view>

#include "runtime/cache/values/entry.hpp"

namespace strata::runtime::cache {

class keyspace;

class digest {
 public:
  /// Of a value, whatever its key.
  [[nodiscard]] static digest of_value(const entry& entry);
  /// Of all databases.
  [[nodiscard]] static digest of_all(keyspace& keyspace);

  /// 40 hexadecimal digits, as Redis's has them; all 0 for nothing.
  [[nodiscard]] std::string text() const;

 private:
  /// Adds what stands in no order.
  void add(std::string_view bytes);
  /// Adds what follows on what was added before.
  void append(std::string_view bytes);
  void add_value(const entry& entry);

  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

}  // namespace strata::runtime::cache
