#include "net/endpoint_url.hpp"

#include <gtest/gtest.h>

namespace strata::net {
namespace {

TEST(endpoint_url, reads_each_scheme_and_writes_it_back) {
  for (const auto* text : {"tcp://0.0.0.0:9000", "udp://[::1]:53", "tcp://host.example:65535",
                           "unix:///run/a b.sock", "tcp://[fe80::1%eth0]:1"}) {
    const auto url = parse_endpoint(text);
    ASSERT_TRUE(url) << describe(url.error());
    EXPECT_EQ(url->text(), text);
  }
}

TEST(endpoint_url, refuses_what_it_cannot_mean_and_says_why) {
  const std::pair<const char*, const char*> refused[] = {
      {"", "no scheme"},
      {"9000", "no scheme"},
      {"gopher://a:1", "'gopher' is not known"},
      {"tcp://", "no port"},
      {"tcp://host", "no port"},
      {"tcp://:80", "no host"},
      {"tcp://host:65536", "'65536' is not a port"},
      {"tcp://host:-1", "'-1' is not a port"},
      {"tcp://::1:80", "brackets"},
      {"tcp://[::1", "no end"},
      {"tcp://a b:80", "not a name"},
      {"unix://relative", "absolute path"},
  };
  for (const auto& [text, why] : refused) {
    const auto url = parse_endpoint(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, errc::invalid_argument);
    EXPECT_NE(describe(url.error()).find(why), std::string::npos) << describe(url.error());
  }
}

}  // namespace
}  // namespace strata::net
