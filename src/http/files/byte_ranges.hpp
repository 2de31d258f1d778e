// The ranges that a request asks for (RFC 9110 section 14), and those that are sent.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace strata::http {

/// Both ends are inclusive.
struct byte_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  bool operator==(const byte_range&) const = default;
  [[nodiscard]] std::uint64_t size() const { return last - first + 1; }
};

/// More ranges than these, once adjacent ones are joined, cost more than they save: the whole file
/// is sent.
inline constexpr std::size_t most_ranges = 16;

struct chosen_ranges {
  enum class kind : std::uint8_t { whole, some, unsatisfiable };
  kind what = kind::whole;
  std::vector<byte_range> ranges;  ///< ascending, not adjacent; at most `most_ranges`
};

/// `value` is the field's value. Ranges that cannot be parsed are ignored. Memory is bounded,
/// however many ranges there are.
[[nodiscard]] chosen_ranges choose_ranges(std::string_view value, std::uint64_t size);

}  // namespace strata::http
