#include "net/endpoint_url.hpp"

#include <gtest/gtest.h>

namespace strata::net {
namespace {

TEST(endpoint_url, reads_each_scheme_and_writes_it_back) {
  for (const auto* text :
       {"tcp://*:9000", "tcp://0.0.0.0:9000", "udp://[::1]:53", "tcp://host.example:65535",
        "unix:///run/a b.sock", "tcp://[fe80::1%eth0]:1", "l2://vethA/0x88b5",
        "l2://eth0/0x0800?dst=02:00:00:00:00:01&vlan=10&prio=7&dei=1",
        "xdp://eth0/3?ethertype=0x88b5&mode=zerocopy&vlan=10",
        "xdp://eth0/0?ethertype=0x0800&dst=02:00:00:00:00:01&prio=7"}) {
    const auto url = parse_endpoint(text);
    ASSERT_TRUE(url) << describe(url.error());
    EXPECT_EQ(url->text(), text);
  }
}

TEST(endpoint_url, an_l2_url_has_defaults) {
  EXPECT_EQ(parse_endpoint("l2://eth0")->text(), "l2://eth0/0x88b5");
  EXPECT_EQ(parse_endpoint("l2://eth0/2048?vlan=0")->text(), "l2://eth0/0x0800?vlan=0");
}

TEST(endpoint_url, an_xdp_url_has_defaults) {
  EXPECT_EQ(parse_endpoint("xdp://eth0")->text(), "xdp://eth0/0?ethertype=0x88b5");
  EXPECT_EQ(parse_endpoint("xdp://eth0/2?mode=native")->xdp.mode, xdp_mode::native);
}

TEST(endpoint_url, refuses_what_it_cannot_mean_and_says_why) {
  const std::pair<const char*, const char*> refused[] = {
      {"", "no scheme"},
      {"9000", "no scheme"},
      {"127.0.0.1:9001", "it has no scheme; write tcp://127.0.0.1:9001, or another scheme"},
      {"gopher://a:1", "'gopher' is not known"},
      {"tcp://", "no port"},
      {"tcp://host", "no port"},
      {"tcp://:80", "no host"},
      {"tcp://host:65536", "'65536' is not a port"},
      {"tcp://host:-1", "'-1' is not a port"},
      {"tcp://::1:80", "brackets"},
      {"tcp://[::1", "lacks the ']'"},
      {"tcp://a b:80", "not a name"},
      {"tcp://127.0.0.1:1,127.0.0.1:2", "',' cannot separate endpoints; give each"},
      {"tcp://a:1;b:2", "';' cannot separate endpoints; give each"},
      {"tcp://[::1]:1,[::1]:2", "',' cannot separate endpoints; give each"},
      {"http://a:1,b:2", "',' cannot separate endpoints; give each"},
      {"unix://relative", "absolute path"},
      {"l2://", "interface"},
      {"l2://a-name-that-is-too-long/", "1 to 15"},
      {"l2://a b/", "not a valid name"},
      {"l2://eth0/0x5ff", "'0x5ff' is not a valid EtherType"},
      {"l2://eth0/x", "'x' is not a valid EtherType"},
      {"l2://eth0?vlan", "'vlan' is not NAME=VALUE"},
      {"l2://eth0?vlan=4095", "'4095' is not a valid VLAN id: write 0 to 4094"},
      {"l2://eth0?prio=8", "'8' is not a valid priority: write 0 to 7"},
      {"l2://eth0?dst=x", "'x' is not a MAC address"},
      {"l2://eth0?color=red", "dei and pad; write l2://IFACE/0x88b5?vlan=10&prio=7"},
      {"tls://host", "it has no port; write tls://HOST:PORT"},
      {"l2://eth0?mode=native", "'mode' is not one of dst"},
      {"xdp://eth0/x", "'x' is not a valid queue"},
      {"xdp://eth0/1024", "'1024' is not a valid queue: write 0 to 1023"},
      {"xdp://eth0?mode=fast", "'fast' is not one of native, generic and zerocopy"},
      {"xdp://eth0?color=red", "'color' is not one of ethertype, mode, dst"},
      {"xdp://eth0?ethertype=7", "'7' is not a valid EtherType"},
  };
  for (const auto& [text, why] : refused) {
    const auto url = parse_endpoint(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, errc::invalid_argument);
    EXPECT_NE(describe(url.error()).find(why), std::string::npos) << describe(url.error());
  }
}

// RFC 6455 section 3: a fragment MUST NOT be used, and `#` is written as %23.
TEST(endpoint_url, the_web_has_no_fragments) {
  for (const auto* text : {"ws://a/#b", "wss://a/b?c#d", "http://a/#", "ws://a#b", "ws://a:80#b"}) {
    EXPECT_FALSE(parse_endpoint(text)) << text;
  }
  EXPECT_EQ(parse_endpoint("ws://a/b%23?c=d")->path, "/b%23?c=d");
}

}  // namespace
}  // namespace strata::net
