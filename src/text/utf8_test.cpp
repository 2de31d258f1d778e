#include "text/utf8.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>

namespace strata::text {
namespace {

using std::literals::operator""sv;

/// Returns the position of the first invalid byte; nullopt if there is none.
std::optional<std::size_t> first_wrong(std::string_view bytes) {
  utf8_checker checker;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (!checker.feed(as_bytes(bytes.substr(at, 1)))) return at;
  }
  return std::nullopt;
}

/// Encodes the code point as in RFC 3629 section 3, for any number.
std::string sequence_of(std::uint32_t point, int size) {
  if (size == 1) return {static_cast<char>(point)};
  constexpr unsigned char marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
  std::string made(static_cast<std::size_t>(size), '\0');
  for (auto at = made.size() - 1; at > 0; --at, point >>= 6U) {
    made[at] = static_cast<char>(0x80U | (point & 0x3FU));
  }
  made[0] = static_cast<char>(marks[size] | point);
  return made;
}

TEST(utf8, every_code_point_is_right_in_its_shortest_form_alone) {
  for (std::uint32_t point = 0; point < 0x110000; ++point) {
    const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
    const int shortest = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (int size = shortest; size <= 4; ++size) {
      const bool right = size == shortest && !surrogate;
      ASSERT_EQ(is_utf8(sequence_of(point, size)), right) << std::hex << point << ' ' << size;
    }
  }
  for (std::uint32_t point = 0x110000; point < 0x200000; ++point) {
    ASSERT_FALSE(is_utf8(sequence_of(point, 4))) << std::hex << point;
  }
}

TEST(utf8, fails_at_the_first_byte_that_cannot_be_right) {
  EXPECT_EQ(first_wrong("a\x80"sv), 1U);
  EXPECT_EQ(first_wrong("\xC0\xAF"sv), 0U);
  EXPECT_EQ(first_wrong("\xC3\x28"sv), 1U);
  EXPECT_EQ(first_wrong("\xE0\x80\x80"sv), 1U);
  EXPECT_EQ(first_wrong("\xED\xA0\x80"sv), 1U);
  EXPECT_EQ(first_wrong("\xF0\x8F\xBF\xBF"sv), 1U);
  EXPECT_EQ(first_wrong("\xF4\x90\x80\x80"sv), 1U);
  EXPECT_EQ(first_wrong("\xF5"sv), 0U);
  EXPECT_EQ(first_wrong("\xF0\x9F\x98\x41"sv), 3U);
}

TEST(utf8, a_cut_sequence_is_not_whole_and_not_wrong) {
  for (const auto sequence : {"\xC3\xA9"sv, "\xE2\x82\xAC"sv, "\xF0\x9F\x98\x80"sv}) {
    for (std::size_t size = 1; size < sequence.size(); ++size) {
      utf8_checker checker;
      EXPECT_TRUE(checker.feed(as_bytes(sequence.substr(0, size))));
      EXPECT_FALSE(checker.is_whole());
      EXPECT_TRUE(checker.feed(as_bytes(sequence.substr(size))));
      EXPECT_TRUE(checker.is_whole());
    }
  }
}

TEST(utf8, a_wrong_byte_is_found_at_every_place_of_a_long_text) {
  for (std::size_t size = 1; size < 100; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      text[at] = '\xFF';
      EXPECT_FALSE(is_utf8(text)) << size << ' ' << at;
    }
    EXPECT_TRUE(is_utf8(std::string(size, 'a')));
  }
}

TEST(utf8, does_not_care_how_random_bytes_are_cut) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  constexpr auto alphabet = "aaaa\x80\x9F\xA0\xBF\xC2\xC3\xE0\xE2\xED\xEF\xF0\xF4"sv;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes;
    for (auto size = random() % 24; size > 0; --size) bytes += alphabet[random() % alphabet.size()];
    const auto cut = random() % (bytes.size() + 1);
    utf8_checker whole;
    utf8_checker pieces;
    const bool right = whole.feed(as_bytes(bytes));
    ASSERT_EQ(right, !first_wrong(bytes));
    ASSERT_EQ(right,
              pieces.feed(as_bytes(bytes).first(cut)) && pieces.feed(as_bytes(bytes).subspan(cut)));
    ASSERT_TRUE(!right || whole.is_whole() == pieces.is_whole());
  }
}

TEST(utf8, a_prefix_cuts_no_sequence) {
  EXPECT_EQ(utf8_prefix("abc", 3), "abc");
  EXPECT_EQ(utf8_prefix("abc", 2), "ab");
  EXPECT_EQ(utf8_prefix("a\xE2\x82\xAC", 3), "a");
  EXPECT_EQ(utf8_prefix("a\xE2\x82\xAC", 4), "a\xE2\x82\xAC");
  EXPECT_EQ(utf8_prefix("\xE2\x82\xAC", 1), "");
}

// Short pieces are checked as a whole first.
TEST(utf8, where_a_wrong_byte_stands_in_a_piece_does_not_matter) {
  for (std::size_t size = 1; size <= 70; ++size) {
    std::string piece(size, 'a');
    EXPECT_TRUE(is_utf8(piece)) << size;
    for (std::size_t at = 0; at < size; ++at) {
      piece[at] = '\xff';
      EXPECT_FALSE(is_utf8(piece)) << size << ' ' << at;
      piece[at] = 'a';
      if (at + 1 == size) continue;
      piece.replace(at, 2, "\xc3\xa9");
      EXPECT_TRUE(is_utf8(piece)) << size << ' ' << at;
      piece.replace(at, 2, "aa");
    }
    utf8_checker checker;
    EXPECT_TRUE(checker.feed(as_bytes("\xc3"sv)));
    EXPECT_FALSE(checker.feed(as_bytes(std::string_view(piece)))) << "a continuation is missing";
  }
}

}  // namespace
}  // namespace strata::text
