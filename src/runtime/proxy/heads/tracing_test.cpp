#include "runtime/proxy/heads/tracing.hpp"

#include <gtest/gtest.h>

namespace strata::runtime::proxy {
namespace {

TEST(tracing, knows_a_traceparent) {
  const std::string good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_TRUE(is_traceparent(good));
  EXPECT_TRUE(is_traceparent("cc" + good.substr(2) + "-what-comes-later"));
  EXPECT_FALSE(is_traceparent(good + "-more"));
  EXPECT_FALSE(is_traceparent("ff" + good.substr(2)));
  EXPECT_FALSE(is_traceparent("00-00000000000000000000000000000000-00f067aa0ba902b7-01"));
  EXPECT_FALSE(is_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"));
  EXPECT_FALSE(is_traceparent("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(is_traceparent(std::string_view(good).substr(0, size)));
  }
}

TEST(tracing, makes_what_it_knows_and_none_twice) {
  id_maker make;
  EXPECT_TRUE(is_traceparent(make.traceparent()));
  const auto id = make.request_id();
  EXPECT_EQ(id.size(), 32U);
  EXPECT_TRUE(is_request_id(id));
  EXPECT_NE(id, make.request_id());
  EXPECT_NE(id_maker().request_id(), id_maker().request_id());
}

TEST(tracing, an_id_is_short_and_can_be_seen) {
  EXPECT_TRUE(is_request_id("abc-123"));
  for (const auto& text : {std::string(), std::string("a b"), std::string("a\n"), std::string("é"),
                           std::string(129, 'x')}) {
    EXPECT_FALSE(is_request_id(text)) << text;
  }
}

}  // namespace
}  // namespace strata::runtime::proxy
