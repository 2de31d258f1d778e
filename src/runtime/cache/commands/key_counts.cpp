#include "runtime/cache/commands/key_counts.hpp"

#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

std::optional<std::size_t> read_key_count(call& c, std::size_t index, std::string_view too_many) {
  const auto count = text::parse_integer(c[index]);
  if (!count || *count <= 0) {
    c.fail("ERR numkeys should be greater than 0");
    return {};
  }
  if (static_cast<std::uint64_t>(*count) > c.size() - index - 1) {
    c.fail(too_many);
    return {};
  }
  return static_cast<std::size_t>(*count);
}

std::optional<std::int64_t> read_limit(call& c, std::size_t first) {
  std::int64_t limit = 0;
  for (auto i = first; i < c.size(); i += 2) {
    if (!c.is(i, "LIMIT") || i + 1 == c.size()) {
      c.fail_syntax();
      return {};
    }
    const auto read = text::parse_integer(c[i + 1]);
    if (!read || *read < 0) {
      c.fail("ERR LIMIT can't be negative");
      return {};
    }
    limit = *read;
  }
  return limit;
}

}  // namespace strata::runtime::cache
