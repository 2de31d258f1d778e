// Responses that two programs could read in two ways, each with a client's reaction by RFC 9112.
#include <gtest/gtest.h>

#include "proto/http/http1.hpp"

namespace strata::proto {
namespace {

using std::literals::operator""sv;

/// Returns a client's result for the bytes and a following end of the connection: the body, or
/// "refused". Checks that it is the same however the bytes are split.
std::string body_of(std::string_view bytes, bool is_head = false) {
  const auto read = [&](std::size_t step) -> std::string {
    http_response_parser parser;
    if (is_head) parser.expect_no_body();
    std::string body;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      if (!parser.feed(as_bytes(bytes.substr(at, step)))) return "refused";
      body += parser.take_body();
    }
    return parser.finish() && parser.done() ? body + parser.take_body() : "refused";
  };
  const auto whole = read(bytes.size());
  for (const std::size_t step : {1, 2, 3, 7}) EXPECT_EQ(read(step), whole) << bytes;
  return whole;
}

struct reply_row {
  std::string_view bytes;
  std::string_view body;
};

/// Checks each row between `before` and `after`.
void expect_bodies(std::string_view before, std::initializer_list<reply_row> rows,
                   std::string_view after = {}) {
  for (const auto& [bytes, body] : rows) {
    const auto whole = std::string(before).append(bytes).append(after);
    EXPECT_EQ(body_of(whole), body) << whole;
  }
}

std::string value_of(std::string_view field) {
  http_response_parser parser;
  const auto bytes = "HTTP/1.1 204 No Content\r\n" + std::string(field) + "\r\n\r\n";
  EXPECT_TRUE(parser.feed(as_bytes(bytes))) << field;
  if (parser.head() == nullptr) return "none";
  return std::string(find_field(parser.head()->headers, "a").value_or("none"));
}

// Sections 2.2, 2.3 and 4.
TEST(http1_response, status_lines) {
  expect_bodies("",
                {{"HTTP/1.1 200 OK", "body"},
                 {"HTTP/1.0 200 OK", "body"},
                 {"HTTP/1.1 200 ", "body"},
                 {"HTTP/1.1 200", "body"},
                 {"HTTP/1.1 599 odd \xC3\xBC\t!", "body"},
                 {"HTTP/1.1 600 OK", "refused"},
                 {"HTTP/1.1 999 OK", "refused"},
                 {"HTTP/1.1 099 OK", "refused"},
                 {"HTTP/1.1 000 OK", "refused"},
                 {"http/1.1 200 OK", "refused"},
                 {"HTTP/2.0 200 OK", "refused"},
                 {"HTTP/1 200 OK", "refused"},
                 {"HTTP/1.1  200 OK", "refused"},
                 {"HTTP/1.1 20 OK", "refused"},
                 {"HTTP/1.1 2000 OK", "refused"},
                 {"HTTP/1.1 2x0 OK", "refused"},
                 {" HTTP/1.1 200 OK", "refused"},
                 {"HTTP/1.1 200 O\rK", "refused"},
                 {"", "refused"}},
                "\r\nContent-Length: 4\r\n\r\nbody");
}

// Section 2.2: a bare CR is no line end, and blanks before the first field do not form one.
TEST(http1_response, lines_end_in_cr_lf) {
  expect_bodies("HTTP/1.1 200 OK",
                {{"\r\nA: b\r\n", "body"},
                 {"\nA: b\r\n", "refused"},
                 {"\rA: b\r\n", "refused"},
                 {"\r\nA: b\n", "refused"},
                 {"\r\nA: b\rc\r\n", "refused"},
                 {"\r\nA: b\r\r\n", "refused"},
                 {"\r\n A: b\r\n", "refused"},
                 {"\r\n \r\nA: b\r\n", "refused"}},
                "Content-Length: 4\r\n\r\nbody");
}

// Section 5.1: blanks around a value are not part of it.
TEST(http1_response, fields) {
  EXPECT_EQ(value_of("A: \t b c \t "), "b c");
  EXPECT_EQ(value_of("a:b"), "b");
  EXPECT_EQ(value_of("A:"), "");
  EXPECT_EQ(value_of("A: \xC3\xBC"), "\xC3\xBC");
  expect_bodies(
      "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n",
      {{"A : b", "refused"}, {": b", "refused"}, {"A", "refused"}, {"A: b\0"sv, "refused"}},
      "\r\n\r\nbody");
}

// Section 5.2: a client MUST read a fold as blanks.
TEST(http1_response, a_folded_value_is_one_line) {
  EXPECT_EQ(value_of("A: b\r\n c"), "b c");
  EXPECT_EQ(value_of("A: b\r\n\t c\r\n  d"), "b c d");
}

// Section 6.3, point 1: responses without a body, whatever their fields say.
TEST(http1_response, some_have_no_body) {
  for (const auto* status : {"204 No Content", "304 Not Modified", "101 Switching Protocols"}) {
    for (const auto* field : {"", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"}) {
      const auto head = "HTTP/1.1 " + std::string(status) + "\r\n" + field + "\r\n";
      EXPECT_EQ(body_of(head), "") << head;
    }
  }
  EXPECT_EQ(body_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true), "");
  EXPECT_EQ(body_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true), "");
  EXPECT_EQ(body_of("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                    "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"),
            "body");
}

// Sections 6.1 and 6.3, points 3 and 4.
TEST(http1_response, transfer_encodings) {
  expect_bodies("HTTP/1.1 200 OK\r\n",
                {{"Transfer-Encoding: chunked", "body"},
                 {"transfer-encoding:\tCHUNKED ", "body"},
                 {"Transfer-Encoding: chunked\r\nContent-Length: 4", "refused"},
                 {"Content-Length: 4\r\nTransfer-Encoding: chunked", "refused"},
                 {"Transfer-Encoding: chunked, chunked", "refused"},
                 {"Transfer-Encoding: gzip, chunked", "refused"},
                 {"Transfer-Encoding: xchunked", "refused"}},
                "\r\n\r\n4\r\nbody\r\n0\r\n\r\n");
  // HTTP/1.0 has none: the framing is faulty, with or without a length.
  expect_bodies("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n",
                {{"", "refused"}, {"Content-Length: 4\r\n", "refused"}},
                "\r\n4\r\nbody\r\n0\r\n\r\n");
}

// Sections 6.2 and 6.3, points 5 and 6.
TEST(http1_response, content_lengths) {
  expect_bodies("HTTP/1.1 200 OK\r\nContent-Length:",
                {{" 4", "body"},
                 {"4\t", "body"},
                 {" 3", "bod"},
                 {" 5", "refused"},
                 {" ", "refused"},
                 {" -4", "refused"},
                 {" +4", "refused"},
                 {" 0x4", "refused"},
                 {" 4.0", "refused"},
                 {" four", "refused"},
                 {" 4, 5", "refused"},
                 {" 4 4", "refused"},
                 {" 4\r\nContent-Length: 5", "refused"},
                 {" 99999999999999999999999", "refused"},
                 {" 18446744073709551620", "refused"}},
                "\r\n\r\nbody");
}

// Sections 7.1 and 8: sizes that overflow, and bodies that end before their last chunk.
TEST(http1_response, chunks) {
  expect_bodies("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                {{"4\r\nbody\r\n0\r\n\r\n", "body"},
                 {"2;x=\"y\"\r\nbo\r\n02;z\r\ndy\r\n0;end\r\n\r\n", "body"},
                 {"4\r\nbody\r\n0\r\nA: b\r\n\r\n", "body"},
                 {"4\r\nbody\r\n0\r\n", "refused"},
                 {"4\r\nbody\r\n", "refused"},
                 {"4\r\nbod", "refused"},
                 {"4\r\nbodyX\r\n0\r\n\r\n", "refused"},
                 {"g\r\nbody\r\n0\r\n\r\n", "refused"},
                 {"-4\r\nbody\r\n0\r\n\r\n", "refused"},
                 {"10000000000000004\r\nbody\r\n0\r\n\r\n", "refused"}});
}

// Section 6.3, point 8, and section 8: the body extends to the end of the connection.
TEST(http1_response, without_a_length_the_end_is_the_connections) {
  expect_bodies("HTTP/1.1 200 OK\r\n", {{"\r\nbody", "body"}, {"A: b\r\n\r\n", ""}});
  expect_bodies("HTTP/1.1 200 OK\r\n", {{"A: b\r\n", "refused"}, {"", "refused"}});
}

/// Reports whether the connection can carry another request after this response.
bool keeps(std::string_view bytes) {
  http_response_parser parser;
  EXPECT_TRUE(parser.feed(as_bytes(bytes))) << bytes;
  EXPECT_TRUE(parser.done()) << bytes;
  return parser.keep_alive();
}

// Sections 9.3 and 9.6.
TEST(http1_response, a_connection_goes_on_as_it_says) {
  const auto with = [](std::string_view version, std::string_view field) {
    return keeps("HTTP/" + std::string(version) + " 200 OK\r\n" + std::string(field) +
                 "Content-Length: 1\r\n\r\na");
  };
  EXPECT_TRUE(with("1.1", ""));
  EXPECT_FALSE(with("1.1", "Connection: close\r\n"));
  EXPECT_FALSE(with("1.1", "connection: x, CLOSE\r\n"));
  EXPECT_FALSE(with("1.1", "Connection: close, keep-alive\r\n"));
  EXPECT_FALSE(with("1.0", ""));
  EXPECT_TRUE(with("1.0", "Connection: Keep-Alive\r\n"));
}

// Sections 6.3 and 9.2: unsolicited bytes MUST NOT be taken for the next response.
TEST(http1_response, what_comes_behind_a_response_is_none) {
  const auto answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"sv;
  EXPECT_FALSE(keeps(std::string(answer) + "x"));
  EXPECT_FALSE(keeps(std::string(answer).append(answer)));
  http_response_parser parser;
  ASSERT_TRUE(parser.feed(as_bytes(answer)));
  EXPECT_TRUE(parser.keep_alive());
  ASSERT_TRUE(parser.feed(as_bytes(answer)));
  EXPECT_FALSE(parser.keep_alive()) << "it came later";
  EXPECT_EQ(parser.take_body(), "a");
}

}  // namespace
}  // namespace strata::proto
