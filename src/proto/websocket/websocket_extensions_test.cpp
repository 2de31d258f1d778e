// RFC 6455 section 9.1 and RFC 7692 sections 5 and 7.1: offers, answers, and required failures.
#include "proto/websocket/websocket_extensions.hpp"

#include <gtest/gtest.h>

namespace strata::proto {
namespace {

using std::literals::operator""sv;

/// The server's answer; "none", or "malformed".
std::string answer_of(std::string_view offers, const websocket_deflate& deflate = {}) {
  const auto answer = accept_deflate(offers, deflate);
  if (!answer) return std::string(name_of(answer.error().code));
  return *answer ? (*answer)->header : "none";
}

/// Returns the client's reading of an answer: windows and flags; "none", or "malformed".
std::string agreed_of(std::string_view header, const websocket_deflate& offered = {}) {
  const auto agreed = agree_on_deflate(header, offered);
  if (!agreed) return std::string(name_of(agreed.error().code));
  if (!*agreed) return "none";
  const auto& made = **agreed;
  return "s" + std::to_string(made.server_max_window_bits) + " c" +
         std::to_string(made.client_max_window_bits) +
         (made.server_no_context_takeover ? " s-" : "") +
         (made.client_no_context_takeover ? " c-" : "");
}

TEST(websocket_extensions, reads_the_grammar) {
  const auto read =
      read_websocket_extensions(R"( foo , ,bar; baz=2;  flag ; q="a\bc"	, foo;x="y" ,)");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (std::vector<websocket_extension>{
                       {"foo", {}},
                       {"bar", {{"baz", "2"}, {"flag", std::nullopt}, {"q", "abc"}}},
                       {"foo", {{"x", "y"}}}}));
  EXPECT_TRUE(read_websocket_extensions("")->empty());
  EXPECT_TRUE(read_websocket_extensions(" \t")->empty());
}

// RFC 6455 section 9.1: a header that does not conform to the grammar MUST fail the connection. A
// quoted value MUST be a token without its quotes.
TEST(websocket_extensions, what_is_not_the_grammar_is_malformed) {
  for (const auto header : {","sv,
                            ", ,"sv,
                            ";"sv,
                            "=1"sv,
                            "a;"sv,
                            "a;;b"sv,
                            "a;,b"sv,
                            "a; =1"sv,
                            "a; b="sv,
                            "a; b=,c"sv,
                            "a b"sv,
                            "a; b c"sv,
                            "a; b=1 2"sv,
                            "a; b=\""sv,
                            "a; b=\"\""sv,
                            "a; b=\"c"sv,
                            "a; b=\"c\\"sv,
                            "a; b=\"c d\""sv,
                            "a; b=\"c\\\"\""sv,
                            "a; b=\"c\"d"sv,
                            "\"a\""sv,
                            "a\0b"sv,
                            "a; b=\xC3\xA9"sv,
                            "a/b"sv,
                            "a; b=(c)"sv,
                            "a\r\n"sv,
                            "permessage-deflate; x=\x7F"sv}) {
    EXPECT_FALSE(read_websocket_extensions(header)) << header;
    EXPECT_EQ(answer_of(header), "malformed") << header;
    EXPECT_EQ(agreed_of(header), "malformed") << header;
  }
}

// RFC 7692 section 5: the first acceptable offer is accepted; others and unknown extensions are
// ignored.
TEST(websocket_extensions, a_server_takes_the_first_offer_that_it_can_meet) {
  EXPECT_EQ(answer_of(""), "none");
  EXPECT_EQ(answer_of("x-webkit-deflate-frame, permessage-bzip2"), "none");
  EXPECT_EQ(answer_of("permessage-deflate"), "permessage-deflate");
  EXPECT_EQ(answer_of("foo; bar, permessage-deflate"), "permessage-deflate");
  EXPECT_EQ(answer_of("permessage-deflate; unknown, permessage-deflate"), "permessage-deflate");
  EXPECT_EQ(answer_of("permessage-deflate; server_max_window_bits=10, permessage-deflate"),
            "permessage-deflate; server_max_window_bits=10");
}

// Section 7.1.1: without context takeover, for either side.
TEST(websocket_extensions, a_server_does_without_context_takeover_when_asked) {
  EXPECT_EQ(answer_of("permessage-deflate; server_no_context_takeover"),
            "permessage-deflate; server_no_context_takeover");
  EXPECT_EQ(answer_of("permessage-deflate; client_no_context_takeover"),
            "permessage-deflate; client_no_context_takeover");
  const websocket_deflate small{.server_no_context_takeover = true,
                                .client_no_context_takeover = true};
  EXPECT_EQ(answer_of("permessage-deflate", small),
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover");
}

// Section 7.1.2: a window is the offered size or smaller.
TEST(websocket_extensions, a_server_keeps_to_the_windows_that_are_offered) {
  for (int bits = 9; bits <= 15; ++bits) {
    const auto number = std::to_string(bits);
    EXPECT_EQ(answer_of("permessage-deflate; server_max_window_bits=" + number),
              "permessage-deflate; server_max_window_bits=" + number);
    EXPECT_EQ(
        answer_of("permessage-deflate; client_max_window_bits=" + number),
        bits == 15 ? "permessage-deflate" : "permessage-deflate; client_max_window_bits=" + number);
  }
  const websocket_deflate small{.server_max_window_bits = 11, .client_max_window_bits = 10};
  EXPECT_EQ(
      answer_of("permessage-deflate; server_max_window_bits=13; client_max_window_bits", small),
      "permessage-deflate; server_max_window_bits=11; client_max_window_bits=10");
  EXPECT_EQ(answer_of("permessage-deflate; server_max_window_bits=\"10\"; client_max_window_bits=9",
                      small),
            "permessage-deflate; server_max_window_bits=10; client_max_window_bits=9");
}

// Section 7.1.2.2: a server MUST NOT request it from a client that has not named it.
TEST(websocket_extensions, a_client_that_does_not_name_its_window_keeps_the_largest) {
  const websocket_deflate small{.client_max_window_bits = 9};
  const auto answer = accept_deflate("permessage-deflate", small);
  ASSERT_TRUE(answer && *answer);
  EXPECT_EQ((*answer)->header, "permessage-deflate");
  EXPECT_EQ((*answer)->agreed.client_max_window_bits, 15);
}

TEST(websocket_extensions, a_window_of_8_bits_is_read_and_not_written) {
  EXPECT_EQ(answer_of("permessage-deflate; server_max_window_bits=8"), "none");
  EXPECT_EQ(answer_of("permessage-deflate; server_max_window_bits=8, permessage-deflate"),
            "permessage-deflate");
  EXPECT_EQ(answer_of("permessage-deflate; client_max_window_bits=8"),
            "permessage-deflate; client_max_window_bits=8");
  const auto agreed = agree_on_deflate("permessage-deflate; client_max_window_bits=8");
  ASSERT_TRUE(agreed && *agreed);
  EXPECT_FALSE((*agreed)->can_compress(websocket_role::client));
  EXPECT_TRUE((*agreed)->can_compress(websocket_role::server));
}

constexpr auto wrong_parameters = {"server_no_context_takeover=1",
                                   "client_no_context_takeover=\"x\"",
                                   "server_max_window_bits",
                                   "server_max_window_bits=7",
                                   "server_max_window_bits=16",
                                   "server_max_window_bits=08",
                                   "server_max_window_bits=+9",
                                   "server_max_window_bits=9x",
                                   "server_max_window_bits=0x9",
                                   "server_max_window_bits=99999999999999999999",
                                   "client_max_window_bits=7",
                                   "client_max_window_bits=16",
                                   "client_max_window_bits=010",
                                   "client_max_window_bits=-8",
                                   "server_no_context_takeover; server_no_context_takeover",
                                   "client_no_context_takeover; client_no_context_takeover",
                                   "server_max_window_bits=10; server_max_window_bits=10",
                                   "client_max_window_bits=10; client_max_window_bits=10",
                                   "unknown",
                                   "unknown=1",
                                   "Server_No_Context_Takeover"};

// Section 7.1: a server MUST decline an offer with a parameter that is unknown, has an undefined
// value, or comes twice.
TEST(websocket_extensions, a_server_declines_an_offer_with_a_wrong_parameter) {
  for (const std::string wrong : wrong_parameters) {
    EXPECT_EQ(answer_of("permessage-deflate; " + wrong), "none") << wrong;
    EXPECT_EQ(answer_of("permessage-deflate; " + wrong + ", permessage-deflate"),
              "permessage-deflate")
        << wrong;
  }
  EXPECT_EQ(answer_of("permessage-deflate; client_max_window_bits; client_max_window_bits"),
            "none");
  EXPECT_EQ(answer_of("permessage-deflate; client_max_window_bits; client_max_window_bits=9"),
            "none");
}

// Section 7.1: a client MUST fail the connection if the server's answer has an invalid parameter.
TEST(websocket_extensions, a_client_refuses_an_answer_with_a_wrong_parameter) {
  for (const std::string wrong : wrong_parameters) {
    EXPECT_EQ(agreed_of("permessage-deflate; " + wrong), "malformed") << wrong;
  }
  EXPECT_EQ(agreed_of("permessage-deflate; client_max_window_bits"), "malformed");
}

// RFC 6455 section 4.1, RFC 7692 section 5.1: extensions that were not offered, or are accepted
// twice.
TEST(websocket_extensions, a_client_refuses_what_it_has_not_offered) {
  EXPECT_EQ(agreed_of("permessage-bzip2"), "malformed");
  EXPECT_EQ(agreed_of("permessage-deflate, foo"), "malformed");
  EXPECT_EQ(agreed_of("permessage-deflate, permessage-deflate"), "malformed");
  const websocket_deflate narrow{.server_max_window_bits = 10, .client_max_window_bits = 11};
  EXPECT_EQ(agreed_of("permessage-deflate; server_max_window_bits=11", narrow), "malformed");
  EXPECT_EQ(agreed_of("permessage-deflate", narrow), "malformed") << "section 7.1.2.1";
  EXPECT_EQ(
      agreed_of("permessage-deflate; server_max_window_bits=10; client_max_window_bits=12", narrow),
      "malformed");
  const websocket_deflate forgetful{.server_no_context_takeover = true};
  EXPECT_EQ(agreed_of("permessage-deflate", forgetful), "malformed") << "section 7.1.1.1";
}

TEST(websocket_extensions, a_client_takes_what_a_server_may_answer) {
  EXPECT_EQ(agreed_of(""), "none");
  EXPECT_EQ(agreed_of("permessage-deflate"), "s15 c15");
  EXPECT_EQ(agreed_of("permessage-deflate; server_max_window_bits=8; client_max_window_bits=\"9\""),
            "s8 c9");
  EXPECT_EQ(agreed_of("permessage-deflate; client_no_context_takeover; server_no_context_takeover"),
            "s15 c15 s- c-");
  const websocket_deflate offered{.client_no_context_takeover = true, .client_max_window_bits = 12};
  EXPECT_EQ(agreed_of("permessage-deflate", offered), "s15 c12 c-");
}

TEST(websocket_extensions, an_offer_and_its_answer_agree) {
  for (const bool server : {false, true}) {
    for (const bool client : {false, true}) {
      for (std::uint8_t bits = 9; bits <= 15; ++bits) {
        const websocket_deflate offered{server, client, bits, static_cast<std::uint8_t>(24 - bits)};
        const auto answer = accept_deflate(deflate_offer(offered));
        ASSERT_TRUE(answer && *answer) << deflate_offer(offered);
        const auto agreed = agree_on_deflate((*answer)->header, offered);
        ASSERT_TRUE(agreed && *agreed) << (*answer)->header;
        EXPECT_EQ(**agreed, (*answer)->agreed);
        EXPECT_EQ(**agreed, offered);
      }
    }
  }
  EXPECT_EQ(deflate_offer(), "permessage-deflate; client_max_window_bits");
}

}  // namespace
}  // namespace strata::proto
