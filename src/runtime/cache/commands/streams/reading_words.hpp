// The words of XREAD and XREADGROUP before the keys.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

struct reading_words {
  bool in_group = false;  ///< XREADGROUP
  std::size_t group_index = 0;
  bool acknowledges = false;
  bool blocks = false;
  std::optional<std::int64_t> deadline_ms;
  std::uint64_t count = 0;  ///< 0: all
  /// CLAIM of Redis 8.4: reads pending entries too that are idle for at least this time.
  std::optional<std::int64_t> claim_idle_ms;
  std::size_t first_key = 0;
  std::size_t keys = 0;

  [[nodiscard]] std::uint64_t limit() const { return count == 0 ? UINT64_MAX : count; }
};

/// Returns nullopt after an error.
[[nodiscard]] std::optional<reading_words> read_reading_words(call& c, bool in_group);

}  // namespace strata::runtime::cache
