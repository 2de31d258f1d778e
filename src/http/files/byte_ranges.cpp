#include "http/files/byte_ranges.hpp"

#include <algorithm>
#include <optional>

#include "text/word.hpp"

namespace strata::http {

namespace {

// Ranges in a request, before they are joined.
constexpr std::size_t most_asked = 256;

constexpr std::string_view unit = "bytes=";

bool begins_with_unit(std::string_view value) {
  return text::same_text(value.substr(0, unit.size()), unit);
}

// A number that does not fit 64 bits becomes the largest that does.
std::optional<std::uint64_t> read_position(std::string_view digits) {
  if (digits.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char each : digits) {
    if (each < '0' || each > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(each - '0');
    value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
  }
  return value;
}

enum class reading : std::uint8_t { wrong, outside, inside };

reading read_range(std::string_view spec, std::uint64_t size, byte_range& range) {
  const auto dash = spec.find('-');
  if (dash == std::string_view::npos) return reading::wrong;
  const auto last_text = spec.substr(dash + 1);
  const auto last = read_position(last_text);
  if (!last && !last_text.empty()) return reading::wrong;
  if (dash == 0) {  // that many bytes from the end
    if (!last) return reading::wrong;
    if (*last == 0 || size == 0) return reading::outside;
    range = {.first = size - std::min(*last, size), .last = size - 1};
    return reading::inside;
  }
  const auto first = read_position(spec.substr(0, dash));
  if (!first || (last && *last < *first)) return reading::wrong;
  if (*first >= size) return reading::outside;
  range = {.first = *first, .last = last ? std::min(*last, size - 1) : size - 1};
  return reading::inside;
}

void join_touching(std::vector<byte_range>& ranges) {
  std::ranges::sort(ranges, {}, &byte_range::first);
  std::size_t kept = 0;
  for (const auto& each : ranges) {
    if (kept != 0 && each.first <= ranges[kept - 1].last + 1) {
      ranges[kept - 1].last = std::max(ranges[kept - 1].last, each.last);
    } else {
      ranges[kept++] = each;
    }
  }
  ranges.resize(kept);
}

}  // namespace

chosen_ranges choose_ranges(std::string_view value, std::uint64_t size) {
  using enum chosen_ranges::kind;
  if (!begins_with_unit(value)) return {};
  chosen_ranges chosen;
  std::size_t asked = 0;
  for (auto rest = value.substr(unit.size());;) {
    const auto end = rest.find(',');
    const auto spec = text::trimmed(rest.substr(0, end));
    byte_range range;
    if (!spec.empty()) {  // a list may have empty elements
      const auto read = read_range(spec, size, range);
      if (read == reading::wrong || ++asked > most_asked) return {};
      if (read == reading::inside) chosen.ranges.push_back(range);
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (asked == 0) return {};
  join_touching(chosen.ranges);
  if (chosen.ranges.size() > most_ranges) return {};
  chosen.what = chosen.ranges.empty() ? unsatisfiable : some;
  return chosen;
}

}  // namespace strata::http
