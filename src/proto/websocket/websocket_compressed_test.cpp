// RFC 7692 sections 6 and 7.2: compressed messages, on both sides.
#include <gtest/gtest.h>

#include <random>

#include "proto/websocket/testing/websocket_bytes.hpp"
#include "proto/websocket/websocket.hpp"

namespace strata::proto {
namespace {

using namespace testing;
using std::literals::operator""sv;

constexpr websocket_deflate takeover{};
constexpr websocket_deflate forgetful{.server_no_context_takeover = true,
                                      .client_no_context_takeover = true};
constexpr auto packed_hello = "\xf2\x48\xcd\xc9\xc9\x07\x00"sv;  // section 7.2.3.1

std::string packed(std::string_view text) {
  std::string made;
  deflater({}).compress(as_bytes(text), made);
  return made;
}

TEST(websocket_compressed, reads_the_examples_of_the_rfc) {
  for (const auto side : both_sides) {
    for (const auto& agreed : {takeover, forgetful}) {
      const conditions given{.agreed = agreed};
      const std::vector<seen> hello = {{kind::text, "Hello"}};
      EXPECT_EQ(read_all(side, to(side, 0xC1, packed_hello), given).events, hello);
      const auto fragments = to(side, 0x41, packed_hello.substr(0, 3)) + to(side, 0x89, "p") +
                             to(side, 0x00) + to(side, 0x80, packed_hello.substr(3));
      EXPECT_EQ(read_all(side, fragments, given).events,
                (std::vector<seen>{{kind::ping, "p"}, {kind::text, "Hello"}}));
      const auto last_block = "\xf3\x48\xcd\xc9\xc9\x07\x00\x00"sv;
      EXPECT_EQ(read_all(side, to(side, 0xC1, last_block), given).events, hello);
      EXPECT_EQ(read_all(side, to(side, 0xC1, "\0"sv), given).events,
                (std::vector<seen>{{kind::text, ""}}));
    }
  }
}

// Section 6: a message may be compressed or not, according to its first frame.
TEST(websocket_compressed, a_message_may_come_as_it_is) {
  for (const auto side : both_sides) {
    const conditions given{.agreed = takeover};
    const auto bytes = to(side, 0x81, "plain") + to(side, 0xC2, packed_hello) +
                       to(side, 0x01, "a") + to(side, 0x80, "b");
    EXPECT_EQ(
        read_all(side, bytes, given).events,
        (std::vector<seen>{{kind::text, "plain"}, {kind::binary, "Hello"}, {kind::text, "ab"}}));
  }
}

// Section 6: RSV1 is only for the first frame of a message, and RSV2 and RSV3 stay reserved.
TEST(websocket_compressed, the_mark_is_for_first_frames_alone) {
  for (const auto side : both_sides) {
    const conditions given{.agreed = takeover};
    const auto wrong = refused(websocket_close::protocol_error);
    for (const unsigned first : {0xC0U, 0x40U, 0xC8U, 0xC9U, 0xCAU, 0xE1U, 0xD1U, 0xA1U, 0x91U}) {
      EXPECT_EQ(read_all(side, to(side, first), given), wrong) << first;
    }
    const auto begun = to(side, 0x41, packed_hello.substr(0, 3));
    EXPECT_EQ(read_all(side, begun + to(side, 0xC0, packed_hello.substr(3)), given), wrong);
    EXPECT_EQ(read_all(side, to(side, 0xC1, packed_hello)), wrong) << "not agreed";
  }
}

// Sections 7.1.1.1 and 7.2.2: with context takeover a message may refer to earlier ones.
TEST(websocket_compressed, the_window_goes_on_where_it_was_agreed) {
  for (const auto side : both_sides) {
    const auto bytes = to(side, 0xC1, packed_hello) + to(side, 0x81, "plain") +
                       to(side, 0xC1, "\xf2\x00\x11\x00\x00"sv);
    EXPECT_EQ(
        read_all(side, bytes, {.agreed = takeover}).events,
        (std::vector<seen>{{kind::text, "Hello"}, {kind::text, "plain"}, {kind::text, "Hello"}}));
    EXPECT_EQ(
        read_all(side, bytes, {.agreed = forgetful}),
        refused(websocket_close::invalid_data, {{kind::text, "Hello"}, {kind::text, "plain"}}));
    // Each side has its own window.
    const bool is_server = side == websocket_role::server;
    const websocket_deflate one{.server_no_context_takeover = is_server,
                                .client_no_context_takeover = !is_server};
    EXPECT_EQ(read_all(side, bytes, {.agreed = one}).refusal, 0);
  }
}

TEST(websocket_compressed, readers_of_a_thread_that_share_an_inflater_do_not_mix) {
  websocket_reader first(websocket_role::client, 1000, forgetful);
  websocket_reader second(websocket_role::client, 1000, forgetful);
  std::string got;
  const auto sink = [&](const websocket_event& event) { got += as_text(event.payload); };
  const auto head = to(websocket_role::client, 0x41, packed_hello.substr(0, 4));
  const auto rest = to(websocket_role::client, 0x80, packed_hello.substr(4));
  ASSERT_TRUE(first.feed(as_bytes(head), sink));
  ASSERT_TRUE(second.feed(as_bytes(head), sink));
  ASSERT_TRUE(second.feed(as_bytes(rest), sink));
  ASSERT_TRUE(first.feed(as_bytes(rest), sink));
  EXPECT_EQ(got, "HelloHello");
  EXPECT_EQ(first.held() + second.held(), 0U);
}

TEST(websocket_compressed, what_is_not_deflate_is_refused) {
  for (const auto side : both_sides) {
    for (const auto& agreed : {takeover, forgetful}) {
      for (const auto bytes : {"\x06"sv, "\xf2\x48\xcd"sv, "\x00\x05\x00\x00\x00"sv, ""sv}) {
        EXPECT_EQ(read_all(side, to(side, 0xC2, bytes), {.agreed = agreed}),
                  refused(websocket_close::invalid_data));
      }
    }
  }
}

// RFC 6455 section 8.1 applies to the inflated text.
TEST(websocket_compressed, a_text_is_utf8_once_it_is_inflated) {
  for (const auto side : both_sides) {
    const conditions given{.max_message = 1000, .agreed = takeover};
    for (const auto text : {"\xFF"sv, "abc\xED\xA0\x80"sv, "\xE2\x82"sv}) {
      EXPECT_EQ(read_all(side, to(side, 0xC1, packed(text)), given),
                refused(websocket_close::invalid_data));
      EXPECT_EQ(read_all(side, to(side, 0xC2, packed(text)), given).refusal, 0);
    }
    EXPECT_EQ(read_all(side, to(side, 0xC1, packed("\xE2\x82\xAC")), given).events,
              (std::vector<seen>{{kind::text, "\xE2\x82\xAC"}}));
    // Reported before the message is complete, and before it is too long, however it is split.
    EXPECT_EQ(read_pieces(side, {to(side, 0x41, packed("\xFF some text"))}, given),
              refused(websocket_close::invalid_data));
    EXPECT_EQ(read_all(side, to(side, 0xC1, packed("a\xFF" + std::string(5000, 'b'))), given),
              refused(websocket_close::invalid_data));
    EXPECT_EQ(read_all(side, to(side, 0xC1, packed(std::string(1001, 'b') + "\xFF")), given),
              refused(websocket_close::message_too_big));
  }
}

TEST(websocket_compressed, the_limit_is_of_what_is_inflated) {
  for (const auto side : both_sides) {
    for (const auto& agreed : {takeover, forgetful}) {
      const conditions given{.max_message = 1000, .agreed = agreed};
      const auto fits = to(side, 0xC2, packed(std::string(1000, 'a')));
      EXPECT_EQ(read_all(side, fits + fits, given).events.size(), 2U);
      const auto bomb = to(side, 0xC2, packed(std::string(1U << 20U, 'a')));
      EXPECT_EQ(read_all(side, bomb.substr(0, 60), given),
                refused(websocket_close::message_too_big));
    }
  }
}

TEST(websocket_compressed, blocks_without_text_do_not_go_on_for_ever) {
  for (const auto side : both_sides) {
    const conditions given{.max_message = 100, .agreed = takeover};
    std::string bytes;
    for (int i = 0; i < 200; ++i)
      bytes += to(side, i == 0 ? 0x42 : 0, "\0\0\0\xFF\xFF\0\0\0\xFF\xFF"sv);
    EXPECT_EQ(read_pieces(side, {bytes}, given), refused(websocket_close::message_too_big));
    const auto announced = to(side, 0x42, std::string(2000, '\0'));
    EXPECT_EQ(read_pieces(side, {announced.substr(0, 8)}, given).refusal, 1009);
  }
}

TEST(websocket_compressed, random_messages_come_back) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 60; ++round) {
    const auto side = random() % 2 == 0 ? websocket_role::server : websocket_role::client;
    const auto agreed = random() % 2 == 0 ? takeover : forgetful;
    deflater packer({});
    std::string bytes;
    std::vector<seen> wanted;
    for (int message = 0; message < 6; ++message) {
      std::string text(random() % (random() % 4 == 0 ? 40'000 : 200), '\0');
      for (auto& each : text) each = static_cast<char>('a' + random() % 9);
      const auto head = random() % 3;
      std::string compressed;
      if (head != 0) packer.compress(as_bytes(text), compressed);
      if (agreed == forgetful) packer.restart();
      const auto& payload = head == 0 ? text : compressed;
      const auto cut = random() % (payload.size() + 1);
      bytes += to(side, head == 0 ? 0x01 : 0x41, payload.substr(0, cut));
      bytes += to(side, 0x80, payload.substr(cut));
      wanted.push_back({kind::text, text});
    }
    const auto cut = random() % bytes.size();
    const auto text = std::string_view(bytes);
    ASSERT_EQ(read_pieces(side, {text.substr(0, cut), text.substr(cut)}, {.agreed = agreed}),
              outcome{wanted});
  }
}

}  // namespace
}  // namespace strata::proto
