// RFC 6455, sections 5 to 8 and 10: each rule on frames that a reader must enforce, on both sides.
#include "proto/websocket/websocket.hpp"

#include <gtest/gtest.h>

#include <random>

#include "proto/websocket/testing/websocket_bytes.hpp"

namespace strata::proto {
namespace {

using namespace testing;
using std::literals::operator""sv;

constexpr auto protocol_error = websocket_close::protocol_error;
constexpr auto invalid_data = websocket_close::invalid_data;

// Section 5.7.
TEST(websocket, reads_the_examples_of_the_rfc) {
  EXPECT_EQ(read_all(websocket_role::client, "\x81\x05Hello"sv).events,
            (std::vector<seen>{{kind::text, "Hello"}}));
  EXPECT_EQ(
      read_all(websocket_role::server, "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"sv).events,
      (std::vector<seen>{{kind::text, "Hello"}}));
  EXPECT_EQ(read_all(websocket_role::client, "\x01\x03Hel\x80\x02lo"sv).events,
            (std::vector<seen>{{kind::text, "Hello"}}));
  EXPECT_EQ(read_all(websocket_role::client, "\x89\x05Hello"sv).events,
            (std::vector<seen>{{kind::ping, "Hello"}}));
  EXPECT_EQ(
      read_all(websocket_role::server, "\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"sv).events,
      (std::vector<seen>{{kind::pong, "Hello"}}));
  for (const std::size_t size : {256, 65536}) {
    const std::string long_one(size, '\xFE');
    const auto head = size == 256 ? "\x82\x7E\x01\x00"sv : "\x82\x7F\0\0\0\0\0\1\0\0"sv;
    EXPECT_EQ(read_pieces(websocket_role::client, {head, long_one}).events,
              (std::vector<seen>{{kind::binary, long_one}}));
  }
}

// Section 5.1: a server MUST close upon an unmasked frame, a client upon a masked one.
TEST(websocket, only_frames_of_a_client_are_masked) {
  for (const auto side : both_sides) {
    for (const unsigned first : {0x81U, 0x82U, 0x88U, 0x89U, 0x8AU, 0x01U}) {
      EXPECT_EQ(read_all(side, frame(side, first, "")), refused(protocol_error)) << first;
      EXPECT_EQ(read_all(side, frame(side, first, "ab")), refused(protocol_error)) << first;
    }
  }
}

// Section 5.2: RSV1 to RSV3 MUST be 0 unless an extension defines them.
TEST(websocket, reserved_bits_are_refused) {
  for (const auto side : both_sides) {
    for (const unsigned bits : {0x10U, 0x20U, 0x30U, 0x40U, 0x50U, 0x60U, 0x70U}) {
      for (const unsigned first : {0x80U, 0x81U, 0x82U, 0x01U, 0x88U, 0x89U, 0x8AU}) {
        EXPECT_EQ(read_all(side, to(side, first | bits)), refused(protocol_error)) << first;
      }
      const auto begun = to(side, 0x01, "a");
      EXPECT_EQ(read_all(side, begun + to(side, 0x80 | bits)), refused(protocol_error));
    }
  }
}

// Section 5.2: an unknown opcode MUST fail the connection.
TEST(websocket, reserved_opcodes_are_refused) {
  for (const auto side : both_sides) {
    for (const unsigned opcode : {3U, 4U, 5U, 6U, 7U, 11U, 12U, 13U, 14U, 15U}) {
      for (const unsigned fin : {0U, 0x80U}) {
        EXPECT_EQ(read_all(side, to(side, fin | opcode)), refused(protocol_error)) << opcode;
      }
    }
  }
}

// Section 5.2: the minimal number of bytes MUST be used, and the top bit of 64 MUST be 0.
TEST(websocket, a_length_has_its_shortest_form) {
  for (const auto side : both_sides) {
    const unsigned mask = side == websocket_role::server ? 0x80 : 0;
    const std::string key(mask == 0 ? 0 : 4, '\0');
    const auto head = [&](unsigned first, unsigned length, std::string_view rest) {
      std::string made{static_cast<char>(first), static_cast<char>(mask | length)};
      return made.append(rest).append(key);
    };
    for (const auto size : {"\0\0"sv, "\0\1"sv, "\0\x7D"sv}) {
      EXPECT_EQ(read_all(side, head(0x82, 126, size)), refused(protocol_error));
    }
    for (const auto size :
         {"\0\0\0\0\0\0\0\0"sv, "\0\0\0\0\0\0\0\x7D"sv, "\0\0\0\0\0\0\xFF\xFF"sv,
          "\x80\0\0\0\0\0\0\0"sv, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"sv, "\x80\0\0\0\0\1\0\0"sv}) {
      EXPECT_EQ(read_all(side, head(0x82, 127, size)), refused(protocol_error));
    }
    EXPECT_EQ(read_all(side, head(0x82, 127, "\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF"sv)),
              refused(websocket_close::message_too_big));
  }
}

TEST(websocket, every_size_around_the_forms_of_a_length_is_read) {
  for (const auto side : both_sides) {
    for (const std::size_t size :
         {0, 1, 124, 125, 126, 127, 128, 255, 256, 257, 65534, 65535, 65536, 65537}) {
      const std::string payload(size, 'x');
      const auto bytes = to(side, 0x82, payload);
      const std::vector<seen> wanted = {{kind::binary, payload}};
      for (const std::size_t cut : {0, 1, 2, 3, 4, 9, 10, 13, 14, 15, 64}) {
        const auto at = std::min(cut, bytes.size());
        const auto text = std::string_view(bytes);
        EXPECT_EQ(read_pieces(side, {text.substr(0, at), text.substr(at)}).events, wanted) << size;
      }
    }
  }
}

// Section 5.5: all control frames MUST have at most 125 bytes and MUST NOT be fragmented.
TEST(websocket, control_frames_are_short_and_whole) {
  for (const auto side : both_sides) {
    for (const unsigned opcode : {8U, 9U, 10U}) {
      EXPECT_EQ(read_all(side, to(side, opcode, "")), refused(protocol_error));
      EXPECT_EQ(read_all(side, to(side, 0x80 | opcode, std::string(126, 'a'))),
                refused(protocol_error));
      EXPECT_EQ(read_pieces(side, {to(side, 0x80 | opcode, std::string(65536, 'a'))}),
                refused(protocol_error));
    }
    const std::string longest(125, 'p');
    EXPECT_EQ(read_all(side, to(side, 0x89, longest)).events,
              (std::vector<seen>{{kind::ping, longest}}));
    EXPECT_EQ(read_all(side, to(side, 0x8A)).events, (std::vector<seen>{{kind::pong, ""}}));
  }
}

// Section 5.4: control frames MAY lie between the fragments of a message.
TEST(websocket, control_frames_come_between_fragments) {
  for (const auto side : both_sides) {
    const auto bytes = to(side, 0x01, "Hel") + to(side, 0x89, "p") + to(side, 0x00) +
                       to(side, 0x8A, "q") + to(side, 0x80, "lo") + to(side, 0x82, "next");
    EXPECT_EQ(
        read_all(side, bytes).events,
        (std::vector<seen>{
            {kind::ping, "p"}, {kind::pong, "q"}, {kind::text, "Hello"}, {kind::binary, "next"}}));
    // A close discards an incomplete message.
    EXPECT_EQ(read_all(side, to(side, 0x01, "Hel") + to(side, 0x88)).events,
              (std::vector<seen>{{kind::close, ""}}));
  }
}

// Section 5.4: fragments of one message MUST NOT be interleaved with those of another.
TEST(websocket, fragments_follow_their_message) {
  for (const auto side : both_sides) {
    EXPECT_EQ(read_all(side, to(side, 0x80, "a")), refused(protocol_error));
    EXPECT_EQ(read_all(side, to(side, 0x00, "a")), refused(protocol_error));
    for (const unsigned first : {0x01U, 0x02U, 0x81U, 0x82U}) {
      EXPECT_EQ(read_all(side, to(side, 0x01, "a") + to(side, first, "b")),
                refused(protocol_error));
      EXPECT_EQ(read_all(side, to(side, 0x81, "a") + to(side, 0x80, "b")),
                refused(protocol_error, {{kind::text, "a"}}));
    }
  }
}

TEST(websocket, a_message_of_empty_fragments_is_empty) {
  for (const auto side : both_sides) {
    EXPECT_EQ(read_all(side, to(side, 0x01) + to(side, 0x00) + to(side, 0x80)).events,
              (std::vector<seen>{{kind::text, ""}}));
    EXPECT_EQ(read_all(side, to(side, 0x02) + to(side, 0x80, "end") + to(side, 0x81)).events,
              (std::vector<seen>{{kind::binary, "end"}, {kind::text, ""}}));
  }
}

// Section 5.5.1: a close's payload is empty or begins with a code; section 7.4: which codes.
TEST(websocket, a_close_frame_has_a_code_that_may_be_sent) {
  for (const auto side : both_sides) {
    EXPECT_EQ(read_all(side, to(side, 0x88)).events, (std::vector<seen>{{kind::close, "", 1005}}));
    EXPECT_EQ(read_all(side, to(side, 0x88, "\x03")), refused(protocol_error));
    for (unsigned code = 0; code <= 0xFFFF; ++code) {
      const std::string payload{static_cast<char>(code >> 8U), static_cast<char>(code)};
      const bool right = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
                         (code >= 3000 && code <= 4999);
      const auto got = read_pieces(side, {to(side, 0x88, payload + "why")});
      const auto wanted =
          right ? outcome{{{kind::close, "why", static_cast<int>(code)}}} : refused(protocol_error);
      ASSERT_EQ(got, wanted) << code;
    }
  }
}

// Sections 5.5.1 and 8.1: the reason is UTF-8.
TEST(websocket, a_reason_that_is_not_utf8_is_refused) {
  for (const auto side : both_sides) {
    for (const auto reason : {"\xFF"sv, "a\xC3"sv, "\xED\xA0\x80"sv}) {
      EXPECT_EQ(read_all(side, to(side, 0x88, "\x03\xE8" + std::string(reason))),
                refused(invalid_data));
    }
    EXPECT_EQ(read_all(side, to(side, 0x88, "\x03\xE8\xE2\x82\xAC")).events,
              (std::vector<seen>{{kind::close, "\xE2\x82\xAC", 1000}}));
  }
}

// Sections 5.5.1 and 7.1.5: no data after a close, and only the first close counts.
TEST(websocket, nothing_is_read_behind_a_close) {
  for (const auto side : both_sides) {
    const auto closing = to(side, 0x88, "\x03\xE9");
    const auto rest = to(side, 0x81, "late") + to(side, 0x88) + "\xFF\xFF garbage";
    EXPECT_EQ(read_all(side, closing + rest).events, (std::vector<seen>{{kind::close, "", 1001}}));
  }
}

// Section 8.1: a text that is not UTF-8 MUST fail the connection, at once (sections 5.6 and 8).
TEST(websocket, a_text_fails_at_the_first_byte_that_is_wrong) {
  for (const auto side : both_sides) {
    for (const auto text : {"\x80"sv, "\xC0\xAF"sv, "a\xED\xA0\x80"sv, "\xF4\x90\x80\x80"sv,
                            "\xF5\x80\x80\x80"sv, "\xFF"sv, "\xE2\x82"sv, "\xCE"sv}) {
      EXPECT_EQ(read_all(side, to(side, 0x81, text)), refused(invalid_data));
      EXPECT_EQ(read_all(side, to(side, 0x01, text) + to(side, 0x80, "a")), refused(invalid_data));
      EXPECT_EQ(read_all(side, to(side, 0x82, text)).refusal, 0) << "binary is anything";
    }
    // A character may be split over fragments.
    EXPECT_EQ(read_all(side, to(side, 0x01, "\xE2") + to(side, 0x00) + to(side, 0x00, "\x82") +
                                 to(side, 0x80, "\xAC"))
                  .events,
              (std::vector<seen>{{kind::text, "\xE2\x82\xAC"}}));
    // Fails long before the frame is complete, and in the first of many fragments.
    const auto long_frame = to(side, 0x81, "\xFF" + std::string(60000, 'a'));
    EXPECT_EQ(read_pieces(side, {std::string_view(long_frame).substr(0, 9)}),
              refused(invalid_data));
    EXPECT_EQ(read_pieces(side, {to(side, 0x01, "\xFF")}), refused(invalid_data));
  }
}

// Section 10.4: an implementation MUST impose limits on sizes of frames and messages.
TEST(websocket, a_message_over_the_limit_is_refused_before_it_comes) {
  const conditions small{.max_message = 100};
  for (const auto side : both_sides) {
    const auto fits = to(side, 0x82, std::string(100, 'a'));
    EXPECT_EQ(read_all(side, fits, small).events.size(), 1U);
    const auto over = to(side, 0x82, std::string(101, 'a'));
    const auto head = over.substr(0, over.size() - 101);
    EXPECT_EQ(read_all(side, head, small), refused(websocket_close::message_too_big));
    const auto parts = to(side, 0x02, std::string(99, 'a')) + to(side, 0x00, "b");
    EXPECT_EQ(read_all(side, parts + to(side, 0x80), small).events.size(), 1U);
    EXPECT_EQ(read_all(side, parts + to(side, 0x80, "c"), small),
              refused(websocket_close::message_too_big));
    EXPECT_EQ(read_all(side, fits + fits, small).events.size(), 2U) << "each has its own";
  }
}

TEST(websocket, a_limit_that_is_lowered_within_a_message_holds_for_the_rest) {
  for (const bool is_compressed : {false, true}) {
    websocket_reader reader(websocket_role::client, 100, websocket_deflate{});
    const auto sink = [](const websocket_event&) { FAIL(); };
    std::string text(50, 'a');
    if (is_compressed) {
      std::string packed;
      deflater({}).compress(as_bytes(text), packed);
      text = packed;
    }
    const auto begun = to(websocket_role::client, is_compressed ? 0x42 : 0x02, text);
    ASSERT_TRUE(reader.feed(as_bytes(begun), sink));
    reader.set_max_message(10);
    const auto rest = to(websocket_role::client, 0x80, is_compressed ? "\0"sv : "b"sv);
    EXPECT_FALSE(reader.feed(as_bytes(rest), sink));
    EXPECT_EQ(reader.refusal_code(), websocket_close::message_too_big);
  }
}

TEST(websocket, floods_of_empty_fragments_and_of_control_frames_end) {
  for (const auto side : both_sides) {
    std::string fragments = to(side, 0x01);
    for (unsigned i = 1; i < websocket_reader::max_empty_fragments; ++i)
      fragments += to(side, 0x00);
    EXPECT_EQ(read_pieces(side, {fragments, to(side, 0x80)}).events.size(), 1U);
    EXPECT_EQ(read_pieces(side, {fragments + to(side, 0x80), fragments + to(side, 0x80)}).refusal,
              0);
    EXPECT_EQ(read_pieces(side, {fragments, to(side, 0x00)}),
              refused(websocket_close::policy_violation));
    std::string pings;
    for (unsigned i = 0; i < websocket_reader::max_controls; ++i) pings += to(side, 0x89, "a");
    EXPECT_EQ(read_pieces(side, {pings, pings}).refusal, 0) << "a turn each";
    EXPECT_EQ(read_pieces(side, {pings + to(side, 0x8A)}).refusal, 1008);
  }
}

TEST(websocket, memory_comes_with_the_bytes_and_goes_with_the_message) {
  for (const auto side : both_sides) {
    websocket_reader reader(side, 64U << 20U);
    std::size_t messages = 0;
    const auto count = [&](const websocket_event&) { ++messages; };
    const auto bytes = to(side, 0x82, std::string(8U << 20U, 'a'));
    const auto text = std::string_view(bytes);
    ASSERT_TRUE(reader.feed(as_bytes(text.substr(0, 1000)), count));
    EXPECT_LT(reader.held(), 4000U) << "not by what the head says";
    ASSERT_TRUE(reader.feed(as_bytes(text.substr(1000)), count));
    EXPECT_EQ(reader.held(), 0U);
    ASSERT_TRUE(reader.feed(as_bytes(to(side, 0x02, "a") + to(side, 0x89, "p")), count));
    EXPECT_GT(reader.held(), 0U);
    ASSERT_TRUE(reader.feed(as_bytes(to(side, 0x80, "b")), count));
    EXPECT_EQ(reader.held(), 0U);
    EXPECT_EQ(messages, 3U);
  }
}

TEST(websocket, a_gathered_message_takes_no_room_beyond_the_limit) {
  constexpr std::size_t limit = 100'000;
  websocket_reader reader(websocket_role::client, limit);
  const auto sink = [](const websocket_event&) {};
  for (std::size_t sent = 0; sent < limit; sent += 1000) {
    const auto fragment = to(websocket_role::client, sent == 0 ? 2 : 0, std::string(1000, 'a'));
    ASSERT_TRUE(reader.feed(as_bytes(fragment), sink));
    ASSERT_LE(reader.held(), limit + 500);
  }
}

TEST(websocket, a_sink_may_feed_another_reader) {
  websocket_reader outer(websocket_role::server, 1000);
  websocket_reader inner(websocket_role::server, 1000);
  const auto bytes = to(websocket_role::server, 0x81, "outer");
  const auto others = to(websocket_role::server, 0x81, "inner text");
  std::string got;
  ASSERT_TRUE(outer.feed(as_bytes(bytes), [&](const websocket_event& event) {
    ASSERT_TRUE(inner.feed(as_bytes(others), [](const websocket_event&) {}));
    got = as_text(event.payload);
  }));
  EXPECT_EQ(got, "outer");
}

TEST(websocket, an_error_says_why_and_what_to_do) {
  websocket_reader reader(websocket_role::server, 10);
  const auto bytes = to(websocket_role::server, 0x82, std::string(11, 'a'));
  const auto read = reader.feed(as_bytes(bytes), [](const websocket_event&) {});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, errc::limit_exceeded);
  EXPECT_NE(describe(read.error()).find("--max-message"), std::string::npos);
}

/// Random valid frames, and their events.
struct conversation {
  std::string bytes;
  std::vector<seen> events;
};

conversation converse(std::mt19937& random, websocket_role side) {
  conversation made;
  const auto random_text = [&](std::size_t most) {
    std::string text(random() % (most + 1), '\0');
    for (auto& each : text) each = static_cast<char>('a' + random() % 26);
    return text;
  };
  for (auto messages = 1 + random() % 5; messages > 0; --messages) {
    const bool is_text = random() % 2 == 0;
    std::string whole;
    const auto fragments = 1 + random() % 4;
    for (std::size_t i = 0; i < fragments; ++i) {
      const auto part = random_text(random() % 8 == 0 ? 70000 : 300);
      whole += part;
      const unsigned opcode = i > 0 ? 0 : is_text ? 1 : 2;
      made.bytes += to(side, opcode | (i + 1 == fragments ? 0x80U : 0U), part);
      if (i + 1 == fragments) made.events.push_back({is_text ? kind::text : kind::binary, whole});
      if (random() % 3 != 0) continue;
      const auto control = random_text(125);
      const bool is_ping = random() % 2 == 0;
      made.bytes += to(side, is_ping ? 0x89 : 0x8A, control);
      made.events.push_back({is_ping ? kind::ping : kind::pong, control});
    }
  }
  return made;
}

TEST(websocket, random_conversations_come_out_as_they_went_in) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    const auto side = random() % 2 == 0 ? websocket_role::server : websocket_role::client;
    const auto made = converse(random, side);
    std::vector<std::string_view> pieces;
    for (std::string_view rest = made.bytes; !rest.empty();) {
      const auto size = std::min<std::size_t>(rest.size(), 1 + random() % (1U << random() % 17));
      pieces.push_back(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    ASSERT_EQ(read_pieces(side, pieces, {}, random() % 2 == 0), outcome{made.events});
  }
}

}  // namespace
}  // namespace strata::proto
