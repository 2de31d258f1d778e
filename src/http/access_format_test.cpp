#include "http/access_format.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace strata::http {
namespace {

proto::http_request asked() {
  proto::http_request request;
  request.method = "GET";
  request.target = "/a?b";
  request.headers = {{"user-agent", "a\"b\\c\x1b\n\xff"}};
  return request;
}

std::string written(const std::string& format) {
  const auto request = asked();
  return access_format::parse(format)->line({.request = request,
                                             .client = "[2001:db8::1]:5000",
                                             .seconds = 0.0123456,
                                             .status = 200,
                                             .bytes = 5,
                                             .backend = "b weight=2",
                                             .retries = 1});
}

TEST(access_format, json_has_a_type_for_each_member) {
  const auto read = nlohmann::json::parse(written("json"));
  EXPECT_EQ(read.size(), 15U);
  EXPECT_EQ(read.at("client"), "2001:db8::1");
  EXPECT_EQ(read.at("protocol"), "HTTP/1.1");
  EXPECT_EQ(read.at("status"), 200);
  EXPECT_EQ(read.at("duration_ms"), 12.346);
  EXPECT_EQ(read.at("backend"), "b weight=2");
  EXPECT_EQ(read.at("retries"), 1);
  EXPECT_EQ(read.at("route"), "");
  EXPECT_EQ(read.at("user_agent"), "a\"b\\c\x1b\n\xef\xbf\xbd");
}

TEST(access_format, a_line_of_ones_own_has_the_names_values) {
  EXPECT_EQ(written("%{status} %{bytes}% \"%{user_agent}\" [%{referer}]"),
            "200 5% \"a\\x22b\\x5Cc\\x1B\\x0A\\xFF\" [-]");
}

TEST(access_format, combined_is_that_of_others) {
  EXPECT_TRUE(written("combined").starts_with("2001:db8::1 - - [")) << written("combined");
}

TEST(access_format, a_wrong_one_is_named) {
  for (const auto* const text :
       {"", "cmobined", "%{status", "%{nothing}", "%{status}\n", "%{}", "%{status} %{"}) {
    const auto read = access_format::parse(text);
    ASSERT_FALSE(read) << text;
    EXPECT_NE(describe(read.error()).find("duration_ms"), std::string::npos);
  }
}

}  // namespace
}  // namespace strata::http
