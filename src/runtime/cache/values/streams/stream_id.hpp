// The id of a stream's entry: a time in milliseconds, and a number that tells entries of the same
// millisecond apart. Both are unsigned and use all 64 bits.
#pragma once

#include <charconv>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace strata::runtime::cache {

struct stream_id {
  std::uint64_t ms = 0;
  std::uint64_t sequence = 0;

  auto operator<=>(const stream_id&) const = default;

  [[nodiscard]] static constexpr stream_id lowest() { return {}; }
  [[nodiscard]] static constexpr stream_id highest() { return {UINT64_MAX, UINT64_MAX}; }
  /// Returns the id behind this one; nullopt behind the highest.
  [[nodiscard]] constexpr std::optional<stream_id> next() const {
    if (*this == highest()) return {};
    return sequence == UINT64_MAX ? stream_id{ms + 1, 0} : stream_id{ms, sequence + 1};
  }
  /// Returns the id before this one; nullopt before the lowest.
  [[nodiscard]] constexpr std::optional<stream_id> previous() const {
    if (*this == lowest()) return {};
    return sequence == 0 ? stream_id{ms - 1, UINT64_MAX} : stream_id{ms, sequence - 1};
  }
};

/// An id as clients see it: "1700000000000-0".
class stream_id_text {
 public:
  explicit stream_id_text(const stream_id& id) {
    char* at = std::to_chars(text_, text_ + sizeof text_, id.ms).ptr;
    *at++ = '-';
    at = std::to_chars(at, text_ + sizeof text_, id.sequence).ptr;
    size_ = static_cast<std::size_t>(at - text_);
  }
  [[nodiscard]] std::string_view view() const { return {text_, size_}; }

 private:
  char text_[44];
  std::size_t size_;
};

}  // namespace strata::runtime::cache
