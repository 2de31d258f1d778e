#include "proto/deflate.hpp"

#include <gtest/gtest.h>

#include <random>

namespace strata::proto {
namespace {

using std::literals::operator""sv;

constexpr std::size_t no_limit = SIZE_MAX;

struct inflated {
  std::string text;
  std::optional<errc> failed;

  friend bool operator==(const inflated&, const inflated&) = default;
};

inflated inflate_pieces(inflater& inflater, std::string_view bytes, std::size_t piece,
                        std::size_t limit = no_limit) {
  inflated got;
  result<void> fed;
  for (; !bytes.empty() && fed; bytes.remove_prefix(std::min(piece, bytes.size()))) {
    fed = inflater.feed(as_bytes(bytes.substr(0, piece)), got.text, limit);
  }
  if (fed) fed = inflater.finish(got.text, limit);
  if (!fed) got.failed = fed.error().code;
  return got;
}

/// Checks that the result is the same however the bytes are split.
inflated inflate_all(std::string_view bytes, std::size_t limit = no_limit) {
  inflater whole;
  const auto got = inflate_pieces(whole, bytes, bytes.size() + 1, limit);
  for (std::size_t piece = 1; piece < bytes.size(); ++piece) {
    inflater again;
    EXPECT_EQ(inflate_pieces(again, bytes, piece, limit), got) << piece;
  }
  return got;
}

std::string deflated(std::string_view text, const deflater::settings& settings = {}) {
  std::string packed;
  deflater(settings).compress(as_bytes(text), packed);
  return packed;
}

std::string random_text(std::mt19937& random, std::size_t size) {
  std::string text(size, '\0');
  const auto letters = 1 + random() % 256;
  for (auto& each : text) each = static_cast<char>(random() % letters);
  return text;
}

// RFC 7692 section 7.2.3.
TEST(deflate, inflates_the_examples_of_the_rfc) {
  EXPECT_EQ(inflate_all("\xf2\x48\xcd\xc9\xc9\x07\x00"sv).text, "Hello");
  EXPECT_EQ(inflate_all("\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00"sv).text, "Hello")
      << "stored";
  EXPECT_EQ(inflate_all("\xf3\x48\xcd\xc9\xc9\x07\x00\x00"sv).text, "Hello") << "a last block";
  EXPECT_EQ(inflate_all("\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00"sv).text, "Hello")
      << "two blocks";
  inflater takeover;
  EXPECT_EQ(inflate_pieces(takeover, "\xf2\x48\xcd\xc9\xc9\x07\x00"sv, 100).text, "Hello");
  EXPECT_EQ(inflate_pieces(takeover, "\xf2\x00\x11\x00\x00"sv, 100).text, "Hello");
}

// RFC 7692 section 7.2.1: the tail is removed; section 7.2.3.6: an empty message is one byte.
TEST(deflate, a_message_ends_without_its_tail) {
  EXPECT_EQ(deflated("Hello"), "\xf2\x48\xcd\xc9\xc9\x07\x00"sv);
  EXPECT_EQ(deflated(""), "\0"sv);
  EXPECT_EQ(inflate_all("\0"sv), (inflated{"", {}}));
}

TEST(deflate, messages_are_smaller_behind_their_like_until_a_restart) {
  const std::string text =
      "a sentence that comes again and has no repetition of its own: 0123456789";
  deflater packer({});
  inflater unpacker;
  std::string first;
  std::string second;
  std::string third;
  packer.compress(as_bytes(text), first);
  packer.compress(as_bytes(text), second);
  packer.restart();
  packer.compress(as_bytes(text), third);
  EXPECT_LT(second.size() * 4, first.size());
  EXPECT_EQ(third, first);
  EXPECT_EQ(inflate_pieces(unpacker, first, 3).text, text);
  EXPECT_EQ(inflate_pieces(unpacker, second, 3).text, text);
  unpacker.restart();
  EXPECT_EQ(inflate_pieces(unpacker, second, 3).failed, errc::malformed) << "without the first";
}

// RFC 7692 section 7.2.3.4: blocks may be marked as final; the stream continues behind them.
TEST(deflate, the_window_outlives_a_last_block) {
  inflater unpacker;
  EXPECT_EQ(inflate_pieces(unpacker, "\xf3\x48\xcd\xc9\xc9\x07\x00\x00"sv, 100).text, "Hello");
  EXPECT_EQ(inflate_pieces(unpacker, "\xf2\x00\x11\x00\x00"sv, 100).text, "Hello");
  EXPECT_EQ(inflate_all("\xf3\x48\xcd\xc9\xc9\x07\x00"sv).text, "Hello") << "nothing behind it";
  EXPECT_EQ(inflate_all("\x03\x00\x03\x00\xf3\x48\xcd\xc9\xc9\x07\x00\x00"sv).text, "Hello");
}

TEST(deflate, what_is_not_deflate_is_malformed) {
  for (const auto bytes : {"\x06"sv,                      // block type 3
                           "\xff\xff\xff"sv,              // the same, in a final block
                           "\x00\x05\x00\x00\x00"sv,      // NLEN is not ~LEN
                           "\xf2\x00\x11\x00\x00"sv,      // a distance before the start
                           "\xf2\x48\xcd"sv,              // truncated
                           "\x00\x07\x00\xf8\xff\x48"sv,  // truncated in a stored block
                           ""sv, "\x04\xc0"sv, "\x04\xff\xff\xff\xff\xff"sv}) {
    EXPECT_EQ(inflate_all(bytes).failed, errc::malformed) << bytes.size();
  }
}

TEST(deflate, a_bomb_stops_at_the_limit_with_little_more_memory) {
  const auto bomb = deflated(std::string(32U << 20U, '\0'));
  ASSERT_LT(bomb.size(), 40'000U);
  for (const std::size_t limit : {0U, 1U, 100U, 65'536U, 1'000'000U}) {
    inflater unpacker;
    std::string output;
    const auto fed = unpacker.feed(as_bytes(bomb), output, limit);
    ASSERT_FALSE(fed);
    EXPECT_EQ(fed.error().code, errc::limit_exceeded);
    EXPECT_EQ(output.size(), limit);
    EXPECT_LE(output.capacity(), limit + (16U << 10U));
  }
}

TEST(deflate, a_message_of_just_the_limit_fits) {
  for (const std::size_t size : {1U, 63U, 64U, 65U, 16'383U, 16'384U, 16'385U, 100'000U}) {
    const std::string text(size, 'x');
    const auto packed = deflated(text);
    inflater fits;
    inflater over;
    EXPECT_EQ(inflate_pieces(fits, packed, SIZE_MAX, size), (inflated{text, {}}));
    EXPECT_EQ(inflate_pieces(over, packed, SIZE_MAX, size - 1).failed, errc::limit_exceeded);
  }
}

TEST(deflate, each_window_reads_what_its_like_wrote) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto part = random_text(random, 600);
  for (int bits = min_deflater_bits; bits <= max_window_bits; ++bits) {
    const auto packed = deflated(part + part + part, {.window_bits = bits, .memory_level = 1});
    inflater same(bits);
    EXPECT_EQ(inflate_pieces(same, packed, 7).text, part + part + part) << bits;
  }
}

TEST(deflate, random_messages_come_back) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 40; ++round) {
    const int bits = min_deflater_bits + static_cast<int>(random() % 7);
    deflater packer({.window_bits = bits, .memory_level = 1 + static_cast<int>(random() % 9)});
    inflater unpacker(bits);
    for (int message = 0; message < 8; ++message) {
      const auto text = random_text(random, random() % 4 == 0 ? random() % 100'000 : random() % 99);
      std::string packed;
      packer.compress(as_bytes(text), packed);
      ASSERT_EQ(inflate_pieces(unpacker, packed, 1 + random() % 3000, text.size()).text, text);
    }
  }
}

TEST(deflate, random_bytes_do_no_harm_however_they_are_cut) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto right = deflated("some text, some text, and then some other text");
  for (int round = 0; round < 3000; ++round) {
    auto bytes = random() % 2 == 0 ? right : random_text(random, random() % 40);
    for (auto edits = random() % 4; edits > 0 && !bytes.empty(); --edits) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    inflate_all(bytes, random() % 2 == 0 ? 20 : 4000);
  }
}

}  // namespace
}  // namespace strata::proto
