// Requests that two programs could read in two ways, each with a server's reaction by RFC 9112 (or
// by 9110, where it is named): 0 if it is accepted, or the status of the refusal.
#include <gtest/gtest.h>

#include "proto/http/http1.hpp"

namespace strata::proto {
namespace {

using std::literals::operator""sv;

struct row {
  std::string_view bytes;
  int status;
};

/// Returns the status of the refusal, 0 if at least one request is complete, -1 if more bytes are
/// needed. Checks that the status is the same however the bytes are split.
int status_for(std::string_view bytes) {
  const auto read = [&](std::size_t step) {
    http_request_parser parser({.max_header = 1000, .max_body = 1000});
    int requests = 0;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      auto got = parser.feed(as_bytes(bytes.substr(at, step)));
      for (; got && *got; got = parser.next()) ++requests;
      if (!got) return parser.refusal_status();
    }
    return requests > 0 ? 0 : -1;
  };
  const int whole = read(bytes.size());
  for (const std::size_t step : {1, 2, 3, 7}) EXPECT_EQ(read(step), whole) << bytes;
  return whole;
}

void expect_rows(std::initializer_list<row> rows) {
  for (const auto& [bytes, status] : rows) EXPECT_EQ(status_for(bytes), status) << bytes;
}

/// Checks each row between `before` and `after`.
void expect_within(std::string_view before, std::initializer_list<row> rows,
                   std::string_view after) {
  for (const auto& [bytes, status] : rows) {
    const auto whole = std::string(before).append(bytes).append(after);
    EXPECT_EQ(status_for(whole), status) << whole;
  }
}

// Section 2.2.
TEST(http1_framing, lines_end_in_cr_lf) {
  expect_rows({{"GET / HTTP/1.1\nHost: x\r\n\r\n", 400},
               {"GET / HTTP/1.1\r\nHost: x\n\r\n", 400},
               {"GET / HTTP/1.1\r\nHost: x\r\n\n", 400},
               {"GET / HTTP/1.1\rHost: x\r\n\r\n", 400},
               {"GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n", 400},
               {"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\r\n\r\n", 400},
               {"GET / HTTP/1.1\r\r\nHost: x\r\n\r\n", 400},
               {"\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400}});
}

// Section 2.2: one empty line before a request is ignored, and no more.
TEST(http1_framing, an_empty_line_may_come_before_a_request) {
  expect_rows({{"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 0},
               {"\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
               {" \r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
               {"\r\n", -1},
               {"GET / HTTP/1.1\r\nHost: x\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 0}});
}

// Section 2.2: blanks between the first line and the first field MUST be rejected or dropped.
TEST(http1_framing, no_blanks_come_before_the_first_field) {
  expect_rows({{"GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400},
               {"GET / HTTP/1.1\r\n\tHost: x\r\n\r\n", 400},
               {"GET / HTTP/1.1\r\n \r\nHost: x\r\n\r\n", 400}});
}

// Sections 2.3 and 2.6; RFC 9110 section 2.5 on later versions.
TEST(http1_framing, versions) {
  expect_within("GET / ",
                {{"HTTP/1.1", 0},    {"HTTP/1.0", 0},     {"HTTP/1.2", 0},    {"HTTP/1.9", 0},
                 {"HTTP/2.0", 505},  {"HTTP/0.9", 505},   {"HTTP/3.0", 505},  {"HTTP/9.9", 505},
                 {"http/1.1", 400},  {"Http/1.1", 400},   {"HTTP/1", 400},    {"HTTP/1.", 400},
                 {"HTTP/.1", 400},   {"HTTP/1.10", 400},  {"HTTP/11.1", 400}, {"HTTP/01.1", 400},
                 {"HTTP/1,1", 400},  {"HTTP/1.x", 400},   {"HTTP 1.1", 400},  {"HTTP/ 1.1", 400},
                 {"HTTP/1.1 ", 400}, {"HTTP/1.1\t", 400}, {"HTTP/-1.1", 400}, {"HTTPS/1.1", 400},
                 {"ICY/1.1", 400},   {"1.1", 400},        {"", 400}},
                "\r\nHost: x\r\n\r\n");
  expect_rows({{"GET /\r\n\r\n", 400}, {"GET\r\n\r\n", 400}, {"\r\n\r\n", 400}});
}

// Sections 3 and 3.1; RFC 9110 section 9.1: a method is a token.
TEST(http1_framing, methods) {
  expect_within("",
                {{"GET", 0},
                 {"get", 0},
                 {"M-SEARCH", 0},
                 {"X!#$%&'*+.^_`|~9", 0},
                 {"", 400},
                 {" GET", 400},
                 {"\tGET", 400},
                 {"G(T", 400},
                 {"G,T", 400},
                 {"G:T", 400},
                 {"G/T", 400},
                 {"\"GET\"", 400},
                 {"G\tT", 400},
                 {"G\0T"sv, 400},
                 {"G\x7FT", 400},
                 {"G\xC3\x89T", 400},
                 {"GET ", 400},
                 {"GET\t", 400},
                 {"{GET}", 400}},
                " / HTTP/1.1\r\nHost: x\r\n\r\n");
}

// Section 3.2.
TEST(http1_framing, targets) {
  expect_within("GET ",
                {{"/", 0},           {"/a/b?c=d", 0},    {"//", 0},        {"/?", 0},
                 {"/%20", 0},        {"/a:b@c", 0},      {"http://x/", 0}, {"HTTP://x:80/a?b", 0},
                 {"http://x", 0},    {"https://x?a", 0}, {"", 400},        {"*", 400},
                 {"a", 400},         {"x:80", 400},      {"?a", 400},      {"://x", 400},
                 {"1http://x", 400}, {"ht tp://x", 400}, {"http:/x", 400}, {"http://", 400},
                 {"/a b", 400},      {"/a\tb", 400},     {" /", 400},      {"/ ", 400},
                 {"/\0"sv, 400},     {"/\x01", 400},     {"/\x7F", 400},   {"/\xC3\xA9", 400},
                 {"/\x80", 400},     {"/a#b", 400},      {"/%", 400},      {"/%2", 400},
                 {"/%zz", 400},      {"/%00", 400},      {"/\v", 400},     {"/\f", 400},
                 {"/a\rb", 400}},
                " HTTP/1.1\r\nHost: x\r\n\r\n");
  expect_rows({{"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 0},
               {"OPTIONS /a HTTP/1.1\r\nHost: x\r\n\r\n", 0},
               {"OPTIONS ** HTTP/1.1\r\nHost: x\r\n\r\n", 400},
               {"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n", 0},
               {"CONNECT x HTTP/1.1\r\nHost: x\r\n\r\n", 400},
               {"CONNECT / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
               {"CONNECT http://x:80/ HTTP/1.1\r\nHost: x\r\n\r\n", 400},
               {"CONNECT * HTTP/1.1\r\nHost: x\r\n\r\n", 400}});
}

// Section 3.2: one Host in HTTP/1.1, never two, and no invalid one.
TEST(http1_framing, hosts) {
  expect_within("GET / HTTP/1.1\r\n",
                {{"Host: x", 0},
                 {"host:x", 0},
                 {"HOST:\tx\t", 0},
                 {"Host:", 0},
                 {"Host: x:80", 0},
                 {"Host: x:", 0},
                 {"Host: [::1]:80", 0},
                 {"Host: 127.0.0.1", 0},
                 {"Host: a%20b", 0},
                 {"A: b", 400},
                 {"Host: x\r\nHost: x", 400},
                 {"Host: x\r\nHost: y", 400},
                 {"Host: x\r\nhOST:", 400},
                 {"Host: x y", 400},
                 {"Host: x/y", 400},
                 {"Host: u@x", 400},
                 {"Host: http://x", 400},
                 {"Host: x:80:80", 400},
                 {"Host: x:http", 400},
                 {"Host: x:-1", 400},
                 {"Host: x:999999", 400},
                 {"Host: [::1", 400},
                 {"Host: []", 400},
                 {"Host: [::1]x", 400},
                 {"Host: ::1", 400},
                 {"Host: x#", 400},
                 {"Host: x?y", 400},
                 {"Host: x\\y", 400},
                 {"Host: \xC3\xA9", 400},
                 {"Host: <x>", 400}},
                "\r\n\r\n");
  expect_rows({{"GET / HTTP/1.1\r\n\r\n", 400},
               {"GET http://x/ HTTP/1.1\r\n\r\n", 400},
               {"GET / HTTP/1.2\r\n\r\n", 400},
               {"GET / HTTP/1.0\r\n\r\n", 0},
               {"GET / HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n", 400},
               {"GET / HTTP/1.0\r\nHost: x y\r\n\r\n", 400}});
}

// Sections 5.1 and 5.2; RFC 9110 sections 5.1 and 5.5.
TEST(http1_framing, fields) {
  expect_within("GET / HTTP/1.1\r\nHost: x\r\n",
                {{"A: b", 0},
                 {"A:b", 0},
                 {"A:", 0},
                 {"A: \t b \t ", 0},
                 {"A: b\tc", 0},
                 {"A: \xC3\xA9\x80\xFF", 0},
                 {"!#$%&'*+-.^_`|~9: b", 0},
                 {"A: b: c", 0},
                 {"A : b", 400},
                 {"A\t: b", 400},
                 {": b", 400},
                 {" : b", 400},
                 {"A", 400},
                 {"A b: c", 400},
                 {"A(: b", 400},
                 {"A\": b", 400},
                 {"A/: b", 400},
                 {"A@: b", 400},
                 {"A[: b", 400},
                 {"A\\: b", 400},
                 {"A\0: b"sv, 400},
                 {"A\x7F: b", 400},
                 {"\xC3\xA9: b", 400},
                 {"A: b\0c"sv, 400},
                 {"A: \x01", 400},
                 {"A: b\x1F", 400},
                 {"A: \x7F", 400},
                 {"A: b\vc", 400},
                 {"A: b\fc", 400},
                 {"A: b\rc", 400},
                 {"A: b\r\n c", 400},
                 {"A: b\r\n\tc", 400},
                 {"A:\r\n b", 400},
                 {"A: b\r\n ", 400},
                 {"\xEF\xBB\xBF"
                  "A: b",
                  400}},
                "\r\n\r\n");
}

constexpr auto post = "POST / HTTP/1.1\r\nHost: x\r\n"sv;

// Section 6.2; RFC 9110 section 8.6: a decimal number; lists MAY be rejected.
TEST(http1_framing, content_lengths) {
  expect_within(std::string(post) + "Content-Length:",
                {{" 5", 0},
                 {"5", 0},
                 {"\t5 ", 0},
                 {" 05", 0},
                 {" 0", 0},
                 {" 5, 5", 400},
                 {" 5,5", 400},
                 {" 5, 6", 400},
                 {" 5,", 400},
                 {" ,5", 400},
                 {"", 400},
                 {" ", 400},
                 {" +5", 400},
                 {" -5", 400},
                 {" -0", 400},
                 {" 5 5", 400},
                 {" 0x5", 400},
                 {" 5h", 400},
                 {" 5.0", 400},
                 {" 5e0", 400},
                 {" five", 400},
                 {" \"5\"", 400},
                 {" 5;a", 400},
                 {" 1001", 413},
                 {" 4294967301", 413},
                 {" 9223372036854775807", 413},
                 {" 18446744073709551621", 400},
                 {" 99999999999999999999999999", 400},
                 {" \xD9\xA5", 400},
                 {" 5\0"sv, 400},
                 {" 5\r\nContent-Length: 5", 400},
                 {" 5\r\nContent-Length: 6", 400},
                 {" 5\r\ncontent-length:", 400}},
                "\r\n\r\nhello");
  expect_within(post, {{"Content-Length : 5", 400}, {"Content_Length: 5", 0}}, "\r\n\r\n");
}

// Sections 6.1 and 6.3: chunked once, and last; no length beside it.
TEST(http1_framing, transfer_encodings) {
  expect_within(post,
                {{"Transfer-Encoding: chunked", 0},
                 {"transfer-encoding:CHUNKED", 0},
                 {"Transfer-Encoding:\tchunked ", 0},
                 {"Transfer-Encoding: gzip, chunked", 501},
                 {"Transfer-Encoding: identity, chunked", 501},
                 {"Transfer-Encoding: x,chunked", 501},
                 {"Transfer-Encoding: gzip", 400},
                 {"Transfer-Encoding: chunked, gzip", 400},
                 {"Transfer-Encoding: chunked, chunked", 400},
                 {"Transfer-Encoding: identity", 400},
                 {"Transfer-Encoding: chunked, identity", 400},
                 {"Transfer-Encoding:", 400},
                 {"Transfer-Encoding: chunked,", 400},
                 {"Transfer-Encoding: xchunked", 400},
                 {"Transfer-Encoding: chunkedx", 400},
                 {"Transfer-Encoding: chunked;a=b", 400},
                 {"Transfer-Encoding: \"chunked\"", 400},
                 {"Transfer-Encoding: chunked x", 400},
                 {"Transfer-Encoding: \vchunked", 400},
                 {"Transfer-Encoding: chu\0nked"sv, 400},
                 {"Transfer-Encoding : chunked", 400},
                 {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400},
                 {"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", 400},
                 {"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", 400},
                 {"Transfer-Encoding: chunked\r\nContent-Length: 5", 400},
                 {"Content-Length: 5\r\nTransfer-Encoding: chunked", 400},
                 {"Content-Length: 0\r\ntransfer-encoding: chunked", 400},
                 {"Transfer-Encoding:\r\n chunked", 400}},
                "\r\n\r\n0\r\n\r\n");
  // Section 6.1: an HTTP/1.0 message with a transfer coding has faulty framing.
  expect_rows({{"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
               {"POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
               {"POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nab", 0}});
}

// Sections 7.1 and 7.1.1.
TEST(http1_framing, chunks) {
  expect_within(std::string(post) + "Transfer-Encoding: chunked\r\n\r\n",
                {{"5\r\nhello\r\n", 0},
                 {"a\r\n0123456789\r\n", 0},
                 {"A\r\n0123456789\r\n", 0},
                 {"005\r\nhello\r\n", 0},
                 {"5;a\r\nhello\r\n", 0},
                 {"5;a=b\r\nhello\r\n", 0},
                 {"5;a=\"b;c\"\r\nhello\r\n", 0},
                 {"", 0},
                 {"\r\n", 400},
                 {"5 \r\n", 400},
                 {" 5\r\nhello\r\n", 400},
                 {"+5\r\nhello\r\n", 400},
                 {"-5\r\nhello\r\n", 400},
                 {"0x5\r\nhello\r\n", 400},
                 {"5h\r\nhello\r\n", 400},
                 {"g\r\n", 400},
                 {"5\nhello\r\n", 400},
                 {"5\r\nhello\n", 400},
                 {"5\r\nhelloX\r\n", 400},
                 {"5\r\nhello", 400},
                 {"4\r\nhello\r\n", 400},
                 {"5,5\r\nhello\r\n", 400},
                 {"5\r\rhello\r\n", 400},
                 {"5;a\nhello\r\n", 400},
                 {";a\r\n", 400},
                 {"5;=b\r\nhello\r\n", 400},
                 {"3e9\r\n", 413},
                 {"ffffffff\r\n", 413},
                 {"fffffffffffffffff\r\n", 400},
                 {"10000000000000005\r\n", 400},
                 {"\"5\"\r\nhello\r\n", 400},
                 {"5\0\r\nhello\r\n"sv, 400}},
                "0\r\n\r\n");
  const auto endless = std::string(post) + "Transfer-Encoding: chunked\r\n\r\n5;";
  EXPECT_EQ(status_for(endless + std::string(2000, 'a')), 431);
  EXPECT_EQ(status_for(endless + "a=\"" + std::string(2000, ' ')), 431);
  EXPECT_EQ(
      status_for(std::string(post) + "Transfer-Encoding: chunked\r\n\r\n" + std::string(2000, '0')),
      431);
}

// Section 3: 414 for a target that is too long; RFC 6585 section 5: 431 for fields.
TEST(http1_framing, a_head_does_not_go_on_for_ever) {
  const std::string much(2000, 'a');
  EXPECT_EQ(status_for("GET /" + much), 414);
  EXPECT_EQ(status_for("GET /" + much + " HTTP/1.1\r\nHost: x\r\n\r\n"), 414);
  EXPECT_EQ(status_for(much), 501);
  EXPECT_EQ(status_for("GET / HTTP/1.1\r\nHost: x\r\n" + much), 431);
  EXPECT_EQ(status_for("GET / HTTP/1.1\r\nHost: x\r\nA: " + much), 431);
}

}  // namespace
}  // namespace strata::proto
