#include "http/access_line.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "http/access_format.hpp"

namespace strata::http {
namespace {

proto::http_request hostile() {
  proto::http_request request;
  request.method = "GET";
  request.target = "/a?b";
  request.headers = {{"user-agent", "a\"b\\c\x1b\n\xff"}, {"referer", "http://x/"}};
  return request;
}

TEST(access_line, combined_cannot_be_forged) {
  const auto request = hostile();
  EXPECT_EQ(combined_line({.request = request,
                           .client = "127.0.0.1:5000",
                           .time_s = 1'000'000'000,
                           .status = 200,
                           .bytes = 5}),
            "127.0.0.1 - - [09/Sep/2001:01:46:40 +0000] \"GET /a?b HTTP/1.1\" 200 5 \"http://x/\" "
            "\"a\\x22b\\x5Cc\\x1B\\x0A\\xFF\"");
}

std::string json_line(const access& request) { return access_format::parse("json")->line(request); }

TEST(access_line, json_is_one_line_of_json) {
  const auto request = hostile();
  const auto line =
      json_line({.request = request, .client = "[::1]:5000", .status = 404, .bytes = 7});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto read = nlohmann::json::parse(line);
  EXPECT_EQ(read.at("status"), 404);
  EXPECT_EQ(read.at("client"), "::1");
  EXPECT_EQ(read.at("bytes"), 7);
  EXPECT_EQ(read.at("time"), "1970-01-01T00:00:00Z");
  EXPECT_EQ(read.at("referer"), "http://x/");
}

TEST(access_line, names_the_certificate_as_the_user) {
  const auto request = hostile();
  const http::access what{
      .request = request, .client = "[::1]:5000", .tls_subject = "CN=Ann \"x\" [,O=\xc3\xa9\n"};
  const auto line = combined_line(what);
  EXPECT_TRUE(line.starts_with("::1 - CN=Ann\\x20\\x22x\\x22\\x20[,O=\\xC3\\xA9\\x0A [")) << line;
  EXPECT_EQ(nlohmann::json::parse(json_line(what)).at("tls_subject"), what.tls_subject);
  const http::access without{.request = request, .client = "[::1]:5000"};
  EXPECT_EQ(nlohmann::json::parse(json_line(without)).at("tls_subject"), "");
}

}  // namespace
}  // namespace strata::http
