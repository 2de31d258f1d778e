#include "runtime/proxy/web/route.hpp"

#include <gtest/gtest.h>

namespace strata::runtime::proxy {
namespace {

bool goes_by(const std::string& text, const std::string& path, const std::string& host = "h",
             const std::string& method = "GET") {
  proto::http_request request;
  request.method = method;
  request.headers = {{"host", host}};
  return matches(*parse_route(text), request, plain_path(path));
}

TEST(route, conditions_hold_together) {
  EXPECT_TRUE(goes_by("-> a", "/"));
  EXPECT_TRUE(goes_by("host=Api.Example.com path=/v1/* -> a", "/v1/x", "api.example.COM:8080"));
  EXPECT_FALSE(goes_by("host=api.example.com path=/v1/* -> a", "/v1/x", "example.com"));
  EXPECT_FALSE(goes_by("host=api.example.com path=/v1/* -> a", "/v2/x", "api.example.com"));
  EXPECT_TRUE(goes_by("method=GET,HEAD -> a", "/", "h", "HEAD"));
  EXPECT_FALSE(goes_by("method=GET,HEAD -> a", "/", "h", "POST"));
  EXPECT_TRUE(goes_by("host=*.example.com -> a", "/", "a.b.example.com"));
  EXPECT_FALSE(goes_by("host=*.example.com -> a", "/", "example.com"));
  EXPECT_TRUE(goes_by("host=[::1] -> a", "/", "[::1]:80"));
}

TEST(route, paths_are_whole_or_begin) {
  EXPECT_TRUE(goes_by("path=/a -> x", "/a"));
  EXPECT_FALSE(goes_by("path=/a -> x", "/a/b"));
  EXPECT_TRUE(goes_by("path=/a/* -> x", "/a/b"));
  EXPECT_TRUE(goes_by("path=/a/* -> x", "/a"));
  EXPECT_FALSE(goes_by("path=/a/* -> x", "/ab"));
  EXPECT_TRUE(goes_by("path=/a* -> x", "/ab"));
  EXPECT_TRUE(goes_by("path=/* -> x", "/"));
}

TEST(route, another_spelling_of_a_path_leads_nowhere_else) {
  for (const auto* const path : {"/admin", "//admin", "/./admin", "/x/../admin", "/admin/./y",
                                 "/../../admin", "/x/y/../../admin/"}) {
    EXPECT_TRUE(goes_by("path=/admin/* -> answer=403", path)) << path;
  }
  EXPECT_EQ(plain_path("/a/./b//c/../d"), "/a/b/d");
  EXPECT_EQ(plain_path("/a/b/.."), "/a/");
  EXPECT_EQ(plain_path("/a/"), "/a/");
  EXPECT_EQ(plain_path("/../.."), "/");
  EXPECT_EQ(plain_path(""), "/");
  EXPECT_EQ(plain_path("*"), "/*");
}

TEST(route, where_it_leads) {
  const auto backends = parse_route("path=/v1/* -> 10.0.0.1:80 weight=2, b backup strip=/v1");
  ASSERT_TRUE(backends);
  EXPECT_EQ(backends->backends, (std::vector<std::string>{"10.0.0.1:80 weight=2", "b backup"}));
  EXPECT_EQ(stripped(*backends, "/v1/x?y"), "/x?y");
  EXPECT_EQ(stripped(*backends, "/v1"), "/");
  EXPECT_EQ(stripped(*backends, "/v1?y"), "/?y");
  EXPECT_EQ(stripped(*backends, "/%761/x"), std::nullopt);
  const auto redirect = parse_route("path=/old/* -> redirect=https://h/new/* answer=301");
  ASSERT_TRUE(redirect);
  EXPECT_EQ(redirect->status, 301);
  EXPECT_EQ(location_for(*redirect, "/old/a?b"), "https://h/new/a?b");
  EXPECT_EQ(location_for(*parse_route("-> redirect=https://h/"), "/x"), "https://h/");
  EXPECT_EQ(parse_route("-> redirect=https://h/")->status, 307);
  EXPECT_EQ(parse_route("-> answer=403")->status, 403);
}

TEST(route, what_is_none_is_refused) {
  for (const auto* const text :
       {"", "a", "->", "host= -> a", "path=v1 -> a", "path=/*/a -> a", "colour=red -> a", "x -> a",
        "host=a.*.com -> a", "-> answer=99", "-> answer=600", "-> answer=x", "-> a, answer=200",
        "-> redirect=", "-> redirect=/x answer=200", "-> a strip=x", "-> a strip=/x",
        "path=/y/* -> a strip=/x"}) {
    const auto read = parse_route(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, errc::invalid_argument);
  }
}

}  // namespace
}  // namespace strata::runtime::proxy
