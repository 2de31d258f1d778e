#include "text/utf8.hpp"

#include <cstring>

namespace strata::text {

namespace {

constexpr std::uint8_t first_continuation = 0x80;
constexpr std::uint8_t last_continuation = 0xBF;

/// Returns how many bytes at the beginning are ASCII, found in groups; a loop over single bytes
/// checks the rest.
std::size_t ascii_prefix(byte_span bytes) {
  constexpr std::uint64_t high_bits = 0x8080808080808080ULL;
  std::size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    std::uint64_t words[4];
    std::memcpy(words, bytes.data() + at, sizeof words);
    if (((words[0] | words[1] | words[2] | words[3]) & high_bits) != 0) break;
  }
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if ((word & high_bits) != 0) break;
  }
  return at;
}

/// Reports whether a short text is all ASCII. Short texts are checked often, and most are ASCII.
bool is_short_ascii(byte_span bytes) {
  constexpr std::uint64_t high_bits = 0x8080808080808080ULL;
  constexpr std::size_t word_size = sizeof high_bits;
  if (bytes.size() < word_size || bytes.size() > 64) return false;
  std::uint64_t seen = 0;
  std::uint64_t word = 0;
  for (std::size_t at = 0; at + word_size <= bytes.size(); at += word_size) {
    std::memcpy(&word, bytes.data() + at, word_size);
    seen |= word;
  }
  std::memcpy(&word, bytes.data() + bytes.size() - word_size, word_size);
  return ((seen | word) & high_bits) == 0;
}

}  // namespace

bool utf8_checker::feed(byte_span piece) {
  if (missing_ == 0 && is_short_ascii(piece)) return true;
  for (std::size_t at = 0; at < piece.size();) {
    const auto byte = std::to_integer<std::uint8_t>(piece[at]);
    if (missing_ > 0) {
      if (byte < low_ || byte > high_) return false;
      low_ = first_continuation;
      high_ = last_continuation;
      --missing_;
      ++at;
    } else if (byte < first_continuation) {
      const auto ascii = ascii_prefix(piece.subspan(at));
      at += ascii > 0 ? ascii : 1;
    } else {
      if (!begin(byte)) return false;
      ++at;
    }
  }
  return true;
}

// Table 3-7 of the Unicode standard: only the second byte's range depends on the first byte.
bool utf8_checker::begin(std::uint8_t first) {
  if (first < 0xC2 || first > 0xF4) return false;
  missing_ = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
  low_ = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : first_continuation;
  high_ = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : last_continuation;
  return true;
}

bool is_utf8(std::string_view text) {
  utf8_checker checker;
  return checker.feed(as_bytes(text)) && checker.is_whole();
}

std::string_view utf8_prefix(std::string_view text, std::size_t size) {
  if (text.size() <= size) return text;
  const auto continues = [&](std::size_t offset) {
    return (static_cast<unsigned char>(text[offset]) & 0xC0U) == 0x80U;
  };
  while (size > 0 && continues(size)) --size;
  return text.substr(0, size);
}

}  // namespace strata::text
