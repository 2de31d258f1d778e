// Parsing of names and lists: paths, media types, codings.
#include <gtest/gtest.h>

#include "http/files/accepted_types.hpp"
#include "http/files/content_coding.hpp"
#include "http/files/media_types.hpp"
#include "http/files/page_script.hpp"
#include "http/files/request_path.hpp"

namespace strata::http {
namespace {

TEST(request_path, what_may_be_looked_for) {
  const auto deep = read_path("/a/b.txt", "/a/b.txt?x=%2F");
  EXPECT_EQ(deep.refusal, 0);
  EXPECT_EQ(deep.relative, "a/b.txt");
  EXPECT_FALSE(deep.wants_folder);
  EXPECT_EQ(read_path("/", "/").relative, "");
  EXPECT_TRUE(read_path("/", "/").wants_folder);
  EXPECT_EQ(read_path("/a/", "/a/").relative, "a");
  EXPECT_TRUE(read_path("/a/", "/a/").wants_folder);
  EXPECT_EQ(read_path("/.well-known/x", "/").refusal, 0);
  EXPECT_EQ(read_path("/" + std::string(255, 'a'), "/").refusal, 0);
}

TEST(request_path, what_is_refused) {
  for (const auto* const path :
       {"", "a", "*", "/..", "/../x", "/a/../b", "/.", "/./a", "/a/.", "/../"}) {
    EXPECT_EQ(read_path(path, "/").refusal, 400) << path;
  }
  using namespace std::string_view_literals;
  EXPECT_EQ(read_path("/a\0b"sv, "/").refusal, 400);
  EXPECT_EQ(read_path("/a\\b", "/a\\b").refusal, 400);
  EXPECT_EQ(read_path("/a\\b", "/a%5cb").refusal, 0);
  EXPECT_EQ(read_path("/a\nb", "/a%0ab").refusal, 0);
  EXPECT_EQ(read_path("/a/b", "/a%2fb").refusal, 400);
  EXPECT_EQ(read_path("/a/b", "/a%2Fb").refusal, 400);
  for (const auto* const path :
       {"//", "//a", "/a//b", "/a//", "/.git", "/a/.git/b", "/...", "/.well-known2"}) {
    EXPECT_EQ(read_path(path, "/").refusal, 404) << path;
  }
  EXPECT_EQ(read_path("/" + std::string(256, 'a'), "/").refusal, 404);
  std::string deep;
  for (int i = 0; i < 3000; ++i) deep += "/a";
  EXPECT_EQ(read_path(deep, "/").refusal, 404);
}

TEST(media_types, the_table_goes_before_ours) {
  const media_types types("# text\ntext/plain  txt log\napplication/x-mine js\nbroken\n/ x\n");
  EXPECT_EQ(types.of("a.txt"), "text/plain; charset=utf-8");
  EXPECT_EQ(types.of("a.b/c.LOG"), "text/plain; charset=utf-8");
  EXPECT_EQ(types.of("a.js"), "application/x-mine");
  EXPECT_EQ(types.of("a.png"), "image/png");
  for (const auto* const name : {"", "a", "a.", "a.b/c", "a.unknown-ending-that-is-long", "a.b"}) {
    EXPECT_EQ(types.of(name), "application/octet-stream") << name;
  }
}

TEST(media_types, what_gets_smaller) {
  EXPECT_TRUE(is_compressible("text/css; charset=utf-8"));
  EXPECT_TRUE(is_compressible("image/svg+xml"));
  EXPECT_FALSE(is_compressible("image/png"));
  EXPECT_FALSE(is_compressible(""));
}

coding chosen(std::string_view accepted) {
  return read_accept_encoding(accepted).choose(true, true);
}

TEST(content_coding, the_best_weight_wins) {
  EXPECT_EQ(chosen("gzip, br"), coding::brotli);
  EXPECT_EQ(chosen("gzip;q=1.0, br;q=0.999"), coding::gzip);
  EXPECT_EQ(chosen("br;q=0.5, identity;q=0.6"), coding::identity);
  EXPECT_EQ(chosen("br;q=0.5 ; x=y, gzip;q=0.4"), coding::brotli);
  EXPECT_EQ(chosen("*"), coding::brotli);
  EXPECT_EQ(chosen("*;q=0.5, br;q=0"), coding::gzip);
  EXPECT_EQ(chosen("identity;q=0, gzip;q=0.1"), coding::gzip);
}

TEST(content_coding, nonsense_asks_for_nothing) {
  for (const auto* const text :
       {"", ",", ";", ";q=1", "gzip;q=", "gzip;q=2", "gzip;q=0.0000", "gzip;q=-1", "gzip;q=x",
        "*;q=0", "deflate", "gzipp", "gzip;q=1e9"}) {
    EXPECT_EQ(chosen(text), coding::identity) << text;
  }
}

TEST(content_coding, letters_differ_where_choices_may) {
  EXPECT_NE(read_accept_encoding("gzip").letter(), read_accept_encoding("").letter());
  EXPECT_NE(read_accept_encoding("gzip, br").letter(),
            read_accept_encoding("gzip, br;q=0.5").letter());
}

TEST(accepted_types, a_type_must_be_named) {
  EXPECT_EQ(accepted_weight({{"accept", "image/png, text/html;q=0.5"}}, "text/html"), 500);
  EXPECT_EQ(accepted_weight({{"accept", "x/y"}, {"accept", "text/html"}}, "text/html"), 1000);
  EXPECT_EQ(accepted_weight({{"accept", "*/*"}}, "text/html"), 0);
  EXPECT_EQ(accepted_weight({{"accept", "text/html;q=0"}}, "text/html"), 0);
  EXPECT_EQ(accepted_weight({{"accept", ",,;,"}}, "text/html"), 0);
}

TEST(page_script, stands_before_the_end_of_the_head) {
  const auto place = [](std::string_view page) {
    const auto made = with_script(page);
    return made.find("<script>");
  };
  EXPECT_EQ(place("<HEAD></HEAD><body></body>"), 6U);
  EXPECT_EQ(place("<body>x</Body>"), 7U);
  EXPECT_EQ(place("plain"), 5U);
  EXPECT_EQ(place(""), 0U);
  EXPECT_EQ(with_script("plain").find("plain"), 0U);
}

}  // namespace
}  // namespace strata::http
