#include "text/readable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::text {

namespace {

/// Formats with at most one decimal, and without a decimal of 0.
std::string short_number(double value) {
  const double tenths = std::round(value * 10);
  const bool whole = std::fmod(tenths, 10) == 0;
  return whole ? fmt::format("{:.0f}", tenths / 10) : fmt::format("{:.1f}", tenths / 10);
}

/// Returns how many bytes at the start of `text` are letters, digits, spaces and signs of ASCII.
std::size_t plain_length(std::string_view text) {
  const auto is_special = [](unsigned char byte) { return byte < 0x20 || byte >= 0x7F; };
  return static_cast<std::size_t>(std::ranges::find_if(text, is_special) - text.begin());
}

/// Returns the length of the UTF-8 sequence at the start of `text`, or 0 if there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t offset) { return static_cast<unsigned char>(text[offset]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80U                     ? 1U
                             : lead >= 0xC2U && lead < 0xE0U  ? 2U
                             : lead >= 0xE0U && lead < 0xF0U  ? 3U
                             : lead >= 0xF0U && lead <= 0xF4U ? 4U
                                                              : 0U;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xC0U) != 0x80U) return 0;
  }
  if (length < 3) return length;
  const unsigned second = byte(1);
  const bool overlong = (lead == 0xE0U && second < 0xA0U) || (lead == 0xF0U && second < 0x90U);
  const bool surrogate = lead == 0xEDU && second >= 0xA0U;
  const bool too_high = lead == 0xF4U && second >= 0x90U;
  return overlong || surrogate || too_high ? 0 : length;
}

/// Matches C0 and DEL, and C1 (which terminals obey too), which UTF-8 encodes as C2 80 to C2 9F.
bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20U || first == 0x7FU;
  return first == 0xC2U && static_cast<unsigned char>(sequence[1]) < 0xA0U;
}

char32_t code_point(std::string_view sequence) {
  const auto byte = [&](std::size_t offset) {
    return static_cast<unsigned char>(sequence[offset]);
  };
  if (sequence.size() == 1) return byte(0);
  // The first of n bytes begins with n one bits and a zero bit.
  char32_t point = byte(0) & (0x7FU >> sequence.size());
  for (std::size_t at = 1; at < sequence.size(); ++at) point = point << 6U | (byte(at) & 0x3FU);
  return point;
}

/// Matches Unicode's marks, embeddings, overrides and isolates: they display text in another order
/// than it has.
bool turns_direction(char32_t point) {
  return point == 0x061C || point == 0x200E || point == 0x200F ||
         (point >= 0x202A && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}

}  // namespace

std::string format_size(double bytes) {
  constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1023.95 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return short_number(bytes) + std::string(units[unit]);
}

std::string format_duration(double seconds) {
  if (!(seconds >= 0) || seconds > 1e12) return "-";
  if (seconds == 0) return "0s";
  if (seconds < 0.9995) return fmt::format("{:.0f}ms", std::ceil(seconds * 1000));
  if (seconds < 59.95) return short_number(seconds) + "s";
  const auto whole = static_cast<std::uint64_t>(std::round(seconds));
  const auto days = whole / 86400;
  const auto hours = whole / 3600 % 24;
  const auto minutes = whole / 60 % 60;
  if (days > 0) return fmt::format("{}d{:02}h", days, hours);
  if (hours > 0) return fmt::format("{}h{:02}m", hours, minutes);
  return fmt::format("{}m{:02}s", minutes, whole % 60);
}

std::string printable(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (;;) {
    const auto plain = plain_length(text);
    safe += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return safe;
    const auto length = sequence_length(text);
    const auto sequence = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(sequence.size());
    if (sequence == "\n") {
      safe += "\\n";
    } else if (sequence == "\r") {
      safe += "\\r";
    } else if (sequence != "\t" && (length == 0 || is_control(sequence))) {
      for (const char byte : sequence) {
        safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    } else if (const auto point = code_point(sequence); turns_direction(point)) {
      safe += fmt::format("\\u{{{:04x}}}", static_cast<std::uint32_t>(point));
    } else {
      safe += sequence;
    }
  }
}

std::string escaped_for_json(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (;;) {
    const auto plain = plain_length(json);
    safe += json.substr(0, plain);
    json.remove_prefix(plain);
    if (json.empty()) return safe;
    const auto length = sequence_length(json);
    const auto sequence = json.substr(0, length == 0 ? 1 : length);
    json.remove_prefix(sequence.size());
    const auto point = length == 0 ? char32_t{0xFFFD} : code_point(sequence);
    const bool is_obeyed = length == 0 || point == 0x7F || (length > 1 && is_control(sequence)) ||
                           turns_direction(point);
    if (is_obeyed) {
      safe += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(point));
    } else {
      safe += sequence;
    }
  }
}

std::size_t width_of(std::string_view text) {
  std::size_t width = 0;
  for (const char byte : text) {
    if ((static_cast<unsigned char>(byte) & 0xC0U) != 0x80U) ++width;
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  std::size_t end = 0;
  for (std::size_t letters = 0; end < text.size(); ++end) {
    const bool begins_letter = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins_letter && ++letters == width) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::vector<std::string> line_splitter::feed(std::string_view piece) {
  std::vector<std::string> lines;
  for (;;) {
    const auto end = piece.find('\n');
    if (end == std::string_view::npos) break;
    rest_ += piece.substr(0, end);
    lines.push_back(std::exchange(rest_, {}));
    piece.remove_prefix(end + 1);
  }
  rest_ += piece;
  return lines;
}

std::vector<std::string> line_splitter::finish() {
  if (rest_.empty()) return {};
  return {std::exchange(rest_, {})};
}

}  // namespace strata::text
