#include "loop/names/network.hpp"

#include <gtest/gtest.h>

namespace strata::loop {
namespace {

bool holds(const std::string& text, const std::string& address) {
  return network::parse(text)->contains(*socket_address::from_ip(address, 80));
}

TEST(network, contains_what_begins_alike) {
  EXPECT_TRUE(holds("10.0.0.0/8", "10.255.1.2"));
  EXPECT_FALSE(holds("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(holds("192.0.2.128/25", "192.0.2.255"));
  EXPECT_FALSE(holds("192.0.2.128/25", "192.0.2.127"));
  EXPECT_TRUE(holds("192.0.2.1", "192.0.2.1"));
  EXPECT_FALSE(holds("192.0.2.1", "192.0.2.0"));
  EXPECT_TRUE(holds("0.0.0.0/0", "203.0.113.9"));
  EXPECT_TRUE(holds("2001:db8::/33", "2001:db8:7fff::1"));
  EXPECT_FALSE(holds("2001:db8::/33", "2001:db8:8000::1"));
}

TEST(network, one_family_holds_nothing_of_another) {
  EXPECT_FALSE(holds("0.0.0.0/0", "::1"));
  EXPECT_FALSE(holds("::/0", "127.0.0.1"));
  EXPECT_FALSE(network::parse("0.0.0.0/0")->contains(*socket_address::from_path("/tmp/s")));
}

TEST(network, what_is_none_is_refused) {
  for (const auto* const text : {"", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1",
                                 "10.0.0.0/8x", "10.0.0/8", "::/129", "name/8", "10.0.0.0/8/8"}) {
    const auto read = network::parse(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, errc::invalid_argument);
  }
}

}  // namespace
}  // namespace strata::loop
