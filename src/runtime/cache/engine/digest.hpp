// A short text that is equal for equal data, whatever its layout: for tests that compare two
// caches, or one cache before and after.
#pragma once

#include <string>
#include <string_view>

#include "runtime/cache/values/entry.hpp"

namespace strata::runtime::cache {

class keyspace;
class stream_value;

class digest {
 public:
  /// Returns the digest of a value, whatever its key.
  [[nodiscard]] static digest of_value(const entry& entry);
  /// Returns the digest of all databases.
  [[nodiscard]] static digest of_all(keyspace& keyspace);

  /// Returns 40 hexadecimal digits, like Redis's; all 0 for no data.
  [[nodiscard]] std::string text() const;

 private:
  /// Adds bytes whose order does not matter.
  void add(std::string_view bytes);
  /// Adds bytes whose order matters.
  void append(std::string_view bytes);
  void add_value(const entry& entry);
  void add_stream(const stream_value& stream);

  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

}  // namespace strata::runtime::cache
