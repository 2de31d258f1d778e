#include "proto/http/http1.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace strata::proto {
namespace {

using std::literals::operator""sv;

/// Returns all requests in `bytes`, fed in pieces of `step`; an error ends the list, and its status
/// stays in the parser.
std::vector<http_request> read_all(http_request_parser& parser, std::string_view bytes,
                                   std::size_t step) {
  std::vector<http_request> requests;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    auto got = parser.feed(as_bytes(bytes.substr(at, step)));
    while (got && *got) {
      requests.push_back(std::move(**got));
      got = parser.next();
    }
    if (!got) break;
  }
  return requests;
}

struct refused {
  int status = 0;
  errc code{};
  std::string text;
};

refused refuse_of(std::string_view bytes, std::size_t step = SIZE_MAX, http_limits limits = {}) {
  http_request_parser parser(limits);
  for (std::size_t at = 0; at < bytes.size();) {
    const auto piece = bytes.substr(at, step);
    at += piece.size();
    auto got = parser.feed(as_bytes(piece));
    while (got && *got) got = parser.next();
    if (!got) return {parser.refusal_status(), got.error().code, describe(got.error())};
  }
  return {};
}

http_request one(std::string_view bytes) {
  http_request_parser parser;
  auto requests = read_all(parser, bytes, SIZE_MAX / 2);
  EXPECT_EQ(requests.size(), 1U) << bytes;
  EXPECT_TRUE(parser.idle());
  return requests.empty() ? http_request{} : requests.front();
}

TEST(http_request_parser, reads_every_part) {
  const auto request =
      one("PATCH /v1/runtimes/a%20b/x+y?tail=5&follow=true&s=a%26b+c&bare HTTP/1.1\r\n"
          "Host: strata\r\nX-Two: 1\r\nX-TWO:   2  \r\nContent-Length: 4\r\n\r\nbo\0y"sv);
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_EQ(request.target, "/v1/runtimes/a%20b/x+y?tail=5&follow=true&s=a%26b+c&bare");
  EXPECT_EQ(request.path, "/v1/runtimes/a b/x+y");
  EXPECT_EQ(request.query_value("tail"), "5");
  EXPECT_EQ(request.query_value("s"), "a&b c");
  EXPECT_EQ(request.query_value("bare"), "");
  EXPECT_EQ(request.query_value("none"), std::nullopt);
  EXPECT_EQ(request.header("x-two"), "1");
  EXPECT_EQ(request.headers.at(2).second, "2");
  EXPECT_EQ(request.body, "bo\0y"sv);
  EXPECT_TRUE(request.keep_alive);
}

TEST(http_request_parser, understands_the_absolute_form) {
  EXPECT_EQ(one("GET http://strata/v1/version?a=b HTTP/1.1\r\nHost: x\r\n\r\n").path,
            "/v1/version");
  EXPECT_EQ(one("GET http://strata HTTP/1.1\r\nHost: x\r\n\r\n").path, "/");
  const auto bare = one("GET http://strata?a=/b HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(bare.path, "/");
  EXPECT_EQ(bare.query_value("a"), "/b");
  EXPECT_EQ(one("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n").path, "*");
}

// RFC 9112 section 3.2.2: the target's host applies, and the Host field MUST be ignored.
TEST(http_request_parser, the_absolute_form_names_the_host) {
  const auto host_of = [](std::string_view target, std::string_view fields) {
    const auto request =
        one("GET " + std::string(target) + " HTTP/1.1\r\n" + std::string(fields) + "\r\n");
    EXPECT_EQ(std::ranges::count(request.headers, "host", &http_fields::value_type::first), 1);
    return std::string(request.header("host").value_or("none"));
  };
  EXPECT_EQ(host_of("http://there:81/a?b=http://x", "Host: here\r\n"), "there:81");
  EXPECT_EQ(host_of("HTTP://[::1]", "A: b\r\nHost:\r\n"), "[::1]");
  EXPECT_EQ(host_of("/a?b=http://there/", "Host: here\r\n"), "here");
  EXPECT_EQ(one("GET http://there/ HTTP/1.0\r\n\r\n").header("host"), "there");
  for (const auto* target : {"http://a@there/", "http:///a", "http://?a", "http://a<b/",
                             "http://there:x/", "http://[::1/"}) {
    EXPECT_EQ(refuse_of("GET " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n\r\n").status, 400)
        << target;
  }
}

// RFC 9112 section 7.1.2; RFC 9110 section 6.5.1: fields after a body are not fields of the head.
TEST(http_request_parser, trailers_are_kept_apart) {
  const auto with = [](std::string_view trailers) {
    return "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n" +
           std::string(trailers) + "\r\n";
  };
  const auto request = one(with("Host: y\r\nConnection: close\r\nA: b\r\n"));
  EXPECT_EQ(request.body, "ab");
  EXPECT_EQ(request.headers.size(), 2U);
  EXPECT_EQ(request.header("host"), "x");
  EXPECT_TRUE(request.keep_alive);
  EXPECT_EQ(request.trailers, (http_fields{{"host", "y"}, {"connection", "close"}, {"a", "b"}}));
  for (const auto* framing : {"Content-Length: 9\r\n", "Transfer-Encoding: gzip\r\n"}) {
    EXPECT_EQ(refuse_of(with(framing)).status, 400) << framing;
  }
}

TEST(http_request_parser, keep_alive_follows_version_and_connection) {
  EXPECT_TRUE(one("GET / HTTP/1.1\r\nHost: x\r\n\r\n").keep_alive);
  EXPECT_FALSE(one("GET / HTTP/1.1\r\nHost: x\r\nConnection: Close\r\n\r\n").keep_alive);
  EXPECT_FALSE(one("GET / HTTP/1.0\r\n\r\n").keep_alive);
  EXPECT_TRUE(one("GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n").keep_alive);
}

constexpr auto sample =
    "POST /v1/runtimes/s/send HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5;name=\"v\"\r\nhello\r\n10\r\n, wonderful\r\nwor\r\n2\r\nld\r\n0\r\nTrailer: x\r\n\r\n"
    "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"
    "POST /third HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
    "POST /fourth HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n"sv;

void expect_sample(const std::vector<http_request>& requests) {
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_EQ(requests[0].body, "hello, wonderful\r\nworld");
  EXPECT_EQ(requests[0].header("trailer"), std::nullopt);
  EXPECT_EQ(requests[1].path, "/second");
  EXPECT_EQ(requests[2].body, "abc");
  EXPECT_EQ(requests[3].path, "/fourth");
  EXPECT_EQ(requests[3].body, "");
}

TEST(http_request_parser, does_not_care_how_the_bytes_come) {
  for (std::size_t step = 1; step <= sample.size(); ++step) {
    SCOPED_TRACE(step);
    http_request_parser parser;
    expect_sample(read_all(parser, sample, step));
    EXPECT_TRUE(parser.idle());
  }
  for (std::size_t cut = 0; cut <= sample.size(); ++cut) {
    SCOPED_TRACE(cut);
    http_request_parser parser;
    auto requests = read_all(parser, sample.substr(0, cut), SIZE_MAX / 2);
    for (auto& more : read_all(parser, sample.substr(cut), SIZE_MAX / 2)) {
      requests.push_back(std::move(more));
    }
    expect_sample(requests);
  }
}

TEST(http_request_parser, asking_again_without_bytes_changes_nothing) {
  http_request_parser parser;
  std::size_t requests = 0;
  for (std::size_t at = 0; at < sample.size(); ++at) {
    auto got = parser.feed(as_bytes(sample.substr(at, 1)));
    for (int again = 0; again < 3 && got; ++again) {
      if (*got) ++requests;
      got = parser.next();
    }
    ASSERT_TRUE(got) << at;
  }
  EXPECT_EQ(requests, 4U);
}

TEST(http_request_parser, is_idle_only_between_requests) {
  http_request_parser parser;
  EXPECT_TRUE(parser.idle());
  ASSERT_TRUE(parser.feed(as_bytes("G")));
  EXPECT_FALSE(parser.idle());
  ASSERT_TRUE(parser.feed(as_bytes("ET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n")));
  EXPECT_FALSE(parser.idle());
  ASSERT_TRUE(parser.feed(as_bytes("x")));
  EXPECT_TRUE(parser.idle());
}

TEST(http_request_parser, refuses_what_is_not_http) {
  const std::string_view bad[] = {
      "\r\n\r\n",
      "GET\r\n\r\n",
      "GET /\r\n\r\n",
      "GET / HTTP/1.1 \r\n\r\n",
      "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
      " GET / HTTP/1.1\r\nHost: x\r\n\r\n",
      "G(T / HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET / HTTP/1.1\n\n",
      "GET / HTTP/1.1\r\nHost: x\r\nA: b\n\r\n",
      "\n",
      "GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n"sv,
      "GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n"sv,
      "G\0T / HTTP/1.1\r\nHost: x\r\n\r\n"sv,
      "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /%2 HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\r\n\r\n"sv,
  };
  for (const auto bytes : bad) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{SIZE_MAX}}) {
      const auto got = refuse_of(bytes, step);
      EXPECT_EQ(got.status, 400) << bytes;
      EXPECT_EQ(got.code, errc::malformed) << bytes;
    }
  }
}

TEST(http_request_parser, refuses_a_lone_line_feed_when_it_comes) {
  http_request_parser parser;
  EXPECT_FALSE(parser.feed(as_bytes("GET / HTTP/1.1\n")));
}

TEST(http_request_parser, refuses_unclear_body_lengths) {
  const std::string_view fields[] = {
      "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
      "Transfer-Encoding: gzip\r\n",
      "Transfer-Encoding: chunked, gzip\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: xchunked\r\nContent-Length: 3\r\n",
      "Content-Length: 3\r\nContent-Length: 4\r\n",
      "Content-Length: -1\r\n",
      "Content-Length: +1\r\n",
      "Content-Length: 0x3\r\n",
      "Content-Length: 3,\r\n",
      "Content-Length:\r\n",
      "Content-Length: 99999999999999999999999\r\n",
  };
  for (const auto field : fields) {
    const auto bytes = "POST / HTTP/1.1\r\nHost: x\r\n" + std::string(field) + "\r\n0\r\n\r\n";
    EXPECT_EQ(refuse_of(bytes).status, 400) << field;
  }
  EXPECT_EQ(refuse_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").status,
            400);
}

TEST(http_request_parser, refuses_broken_chunks) {
  const std::string_view bodies[] = {"x\r\n",         "-1\r\n",        "5\nhello",
                                     "3\r\nabcd\r\n", "3\r\nabcX",     "3;=;\r\nabc\r\n",
                                     "\r\n0\r\n",     " 3\r\nabc\r\n", "11111111111111111\r\n"};
  for (const auto body : bodies) {
    const auto bytes = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" +
                       std::string(body) + "\r\n\r\n";
    EXPECT_NE(refuse_of(bytes).status, 0) << body;
    EXPECT_NE(refuse_of(bytes, 1).status, 0) << body;
  }
}

TEST(http_request_parser, holds_the_head_to_its_limit) {
  const http_limits limits{.max_header = 100, .max_body = 10};
  const auto head_of = [](std::size_t size) {
    std::string head = "GET / HTTP/1.1\r\nHost: x\r\nA: \r\n\r\n";
    return head.insert(head.size() - 4, size - head.size(), 'x');
  };
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{SIZE_MAX}}) {
    EXPECT_EQ(refuse_of(head_of(100), step, limits).status, 0);
    EXPECT_EQ(refuse_of(head_of(101), step, limits).status, 431);
    const auto lines = "GET / HTTP/1.1\r\nHost: x\r\n" + std::string(300, 'x');
    EXPECT_EQ(refuse_of(lines, step, limits).status, 431);
  }
  // One line at a time, none of them long.
  http_request_parser parser(limits);
  ASSERT_TRUE(parser.feed(as_bytes("GET / HTTP/1.1\r\nHost: x\r\n")));
  auto got = parser.feed(as_bytes("A: b\r\n"));
  for (int line = 0; line < 50 && got; ++line) got = parser.feed(as_bytes("A: b\r\n"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::limit_exceeded);
  EXPECT_EQ(parser.refusal_status(), 431);
}

TEST(http_request_parser, holds_the_body_to_its_limit) {
  const http_limits limits{.max_header = 100, .max_body = 10};
  EXPECT_EQ(
      refuse_of("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n0123456789", 1, limits)
          .status,
      0);
  const auto big = refuse_of("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2147483648\r\n\r\n");
  EXPECT_EQ(big.status, 413);
  EXPECT_EQ(big.code, errc::limit_exceeded);
  EXPECT_EQ(big.text,
            "cannot read the HTTP request: its body is longer than the limit of 16777216 bytes");
  const std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(refuse_of(chunked + "80000000\r\n").status, 413);
  EXPECT_EQ(refuse_of(chunked + "6\r\nabcdef\r\n6\r\nabcdef\r\n", 1, limits).status, 413);
  EXPECT_EQ(refuse_of(chunked + "1;" + std::string(200, 'x'), 1, limits).status, 431);
  EXPECT_EQ(refuse_of(chunked + "0\r\nA: " + std::string(200, 'x'), 1, limits).status, 431);
}

TEST(http_request_parser, stays_failed) {
  http_request_parser parser;
  ASSERT_FALSE(parser.feed(as_bytes("nonsense\n")));
  EXPECT_FALSE(parser.feed(as_bytes("GET / HTTP/1.1\r\nHost: x\r\n\r\n")));
  EXPECT_FALSE(parser.next());
  EXPECT_EQ(parser.refusal_status(), 400);
}

TEST(http_request_parser, tells_once_that_the_client_waits_for_100) {
  http_request_parser parser;
  const auto head =
      "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n"sv;
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(parser.take_continue());
    ASSERT_TRUE(parser.feed(as_bytes(head)));
    EXPECT_TRUE(parser.take_continue());
    EXPECT_FALSE(parser.take_continue());
    const auto got = parser.feed(as_bytes("ab"));
    ASSERT_TRUE(got && *got);
  }
  ASSERT_TRUE(parser.feed(as_bytes("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n")));
  EXPECT_FALSE(parser.take_continue());
}

TEST(http_request_parser, survives_random_bytes) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const std::string_view alphabet = "\r\n\r\n\r\n :;0123aA%?/,=x\0\x80"sv;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes(sample.substr(0, random() % sample.size()));
    for (auto edits = random() % 6; edits > 0; --edits) {
      bytes.insert(random() % (bytes.size() + 1), 1, alphabet[random() % alphabet.size()]);
      bytes.erase(random() % bytes.size(), random() % 2);
    }
    http_request_parser parser;
    read_all(parser, bytes, 1 + random() % (bytes.size() + 1));
  }
}

struct read_response {
  std::string body;
  bool done = false;
  result<void> outcome;
  http_response_head head;
};

const http_fields chunked = {{"Transfer-Encoding", "chunked"}};

read_response read_reply(std::string_view bytes, std::size_t step) {
  http_response_parser parser;
  read_response got;
  for (std::size_t at = 0; at < bytes.size() && got.outcome; at += step) {
    got.outcome = parser.feed(as_bytes(bytes.substr(at, step)));
    got.body += parser.take_body();
  }
  if (got.outcome) got.outcome = parser.finish();
  got.done = parser.done();
  if (parser.head() != nullptr) got.head = *parser.head();
  return got;
}

TEST(http_response_parser, reads_what_the_writers_write) {
  const auto plain = http_response(200, "application/json", "{\"a\":1}", true);
  const auto stream = http_response_head_text(200, chunked) + "3\r\n{}\n\r\n12c\r\n" +
                      std::string(300, 'x') + "\r\n" + http_last_chunk();
  for (std::size_t step = 1; step < stream.size(); ++step) {
    const auto first = read_reply(plain, step);
    EXPECT_TRUE(first.done && first.outcome);
    EXPECT_EQ(first.body, "{\"a\":1}");
    EXPECT_EQ(find_field(first.head.headers, "content-type"), "application/json");
    const auto second = read_reply(stream, step);
    EXPECT_TRUE(second.done && second.outcome);
    EXPECT_EQ(second.body, "{}\n" + std::string(300, 'x'));
  }
  const auto gone = read_reply(http_response(204, "text/plain", "ignored", false), 1);
  EXPECT_TRUE(gone.done);
  EXPECT_EQ(gone.head.status, 204);
  EXPECT_EQ(gone.body, "");
}

TEST(http_response_parser, gives_the_body_as_it_comes) {
  http_response_parser parser;
  ASSERT_TRUE(parser.feed(as_bytes(http_response_head_text(200, chunked))));
  ASSERT_NE(parser.head(), nullptr);
  EXPECT_EQ(parser.take_body(), "");
  ASSERT_TRUE(parser.feed(as_bytes("8\r\n{\"n\":1}")));
  EXPECT_EQ(parser.take_body(), "{\"n\":1}");
  EXPECT_EQ(parser.take_body(), "");
  EXPECT_FALSE(parser.done());
  EXPECT_EQ(parser.finish().error().code, errc::connection_closed);
}

TEST(http_request_parser, a_query_that_cannot_be_decoded_is_bytes) {
  for (const auto* const query : {"a=%g0", "discount=50%", "x=%u2019", "hash=%60%00%fc"}) {
    http_request_parser parser;
    const auto text = fmt::format("GET /p?{} HTTP/1.1\r\nHost: x\r\n\r\n", query);
    const auto request = parser.feed(as_bytes(text));
    ASSERT_TRUE(request && *request) << query;
    EXPECT_EQ((*request)->target, fmt::format("/p?{}", query));
    EXPECT_EQ((*request)->path, "/p");
    EXPECT_TRUE((*request)->has_opaque_query);
    EXPECT_TRUE((*request)->query.empty());
  }
}

TEST(http_response_parser, the_answer_to_head_has_no_body_behind_interim_ones) {
  http_response_parser parser;
  parser.expect_no_body();
  ASSERT_TRUE(
      parser.feed(as_bytes("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                           "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")));
  EXPECT_TRUE(parser.done());
  const auto interim = parser.take_interim();
  ASSERT_TRUE(interim);
  EXPECT_EQ(interim->status, 103);
  EXPECT_FALSE(parser.take_interim());
  EXPECT_TRUE(parser.keep_alive());
}

TEST(http_response_parser, passes_over_interim_responses) {
  const auto got = read_reply(std::string(http_continue) + "HTTP/1.1 102 Processing\r\n\r\n" +
                                  http_response(507, "text/plain", "full", false),
                              3);
  EXPECT_EQ(got.head.status, 507);
  EXPECT_EQ(got.body, "full");
}

TEST(http_response_parser, reads_to_the_end_of_the_connection) {
  const auto got = read_reply("HTTP/1.0 200 OK\r\n\r\nabc", 2);
  EXPECT_TRUE(got.done && got.outcome);
  EXPECT_EQ(got.body, "abc");
}

TEST(http_response_parser, refuses_hostile_and_cut_replies) {
  const std::string_view bad[] = {"",
                                  "HTTP/1.1 200 OK\r\n",
                                  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
                                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
                                  "SSH-2.0-OpenSSH\r\n",
                                  "HTTP/1.1 2000 OK\r\n\r\n",
                                  "HTTP/1.1 -1 OK\r\n\r\n",
                                  "HTTP/9.9 200 OK\r\n\r\n",
                                  "HTTP/1.1 200 OK\n\n",
                                  "\0\0\0\0"sv,
                                  "HTTP/1.1 100 Continue\r\n\r\n"};
  for (const auto bytes : bad) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{1000}}) {
      const auto got = read_reply(bytes, step);
      EXPECT_FALSE(got.outcome) << bytes;
      EXPECT_FALSE(got.done) << bytes;
    }
  }
  const auto long_head = read_reply("HTTP/1.1 200 OK\r\nA: " + std::string(20000, 'x'), 100);
  EXPECT_EQ(long_head.outcome.error().code, errc::limit_exceeded);
}

TEST(http_writers, requests_and_reasons) {
  EXPECT_EQ(http_request_text("POST", "/a", {{"Host", "strata"}}, ""),
            "POST /a HTTP/1.1\r\nHost: strata\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(http_request_text("GET", "/a", {}, ""), "GET /a HTTP/1.1\r\n\r\n");
  EXPECT_EQ(http_reason(431), "Request Header Fields Too Large");
  EXPECT_EQ(http_reason(799), "Unknown");
  EXPECT_EQ(http_response(404, "text/plain", "no", false),
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n"
            "Connection: close\r\n\r\nno");
}

}  // namespace
}  // namespace strata::proto
