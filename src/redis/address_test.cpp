#include "redis/address.hpp"

#include <gtest/gtest.h>

namespace strata::redis {
namespace {

TEST(redis_address_test, a_whole_url) {
  const auto server = parse_address("redis://us%40er:p%3Aw%2Fd@localhost:7000/3");
  ASSERT_TRUE(server) << describe(server.error());
  EXPECT_EQ(server->url.text(), "tcp://localhost:7000");
  EXPECT_EQ(server->user, "us@er");
  EXPECT_EQ(server->password, "p:w/d");
  EXPECT_EQ(server->database, 3U);
}

TEST(redis_address_test, what_is_left_out) {
  EXPECT_EQ(parse_address("redis://localhost")->url.text(), "tcp://localhost:6379");
  EXPECT_EQ(parse_address("redis://[::1]")->url.text(), "tcp://[::1]:6379");
  EXPECT_EQ(parse_address("rediss://localhost/")->url.text(), "tls://localhost:6379");
  EXPECT_EQ(parse_address("redis://:secret@localhost")->password, "secret");
  EXPECT_EQ(parse_address("redis://:secret@localhost")->user, "");
}

TEST(redis_address_test, a_cache_or_a_stream) {
  EXPECT_EQ(parse_address("sessions")->url.text(), "runtime://sessions");
  EXPECT_EQ(parse_address("unix:///run/redis.sock")->url.text(), "unix:///run/redis.sock");
}

TEST(redis_address_test, an_invalid_address_is_an_error_without_the_password) {
  for (const std::string text :
       {"", "redis://", "redis://user:hunter2@localhost/x", "redis://user:hunter2@localhost/-1",
        "redis://user:hunter2@localhost:port", "redis://user:hunter2%zz@localhost",
        "redis://user:hunter2@localhost/99999999999999999999", "udp://localhost:1",
        "ws://localhost:1", "no such name", "redis://a:hunter2@"}) {
    const auto server = parse_address(text);
    ASSERT_FALSE(server) << text;
    EXPECT_FALSE(describe(server.error()).contains("hunter2")) << describe(server.error());
  }
}

}  // namespace
}  // namespace strata::redis
