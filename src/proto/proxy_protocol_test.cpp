#include "proto/proxy_protocol.hpp"

#include <gtest/gtest.h>

namespace strata::proto {
namespace {

using namespace std::string_literals;

const proxied_ends by_ip4{{"192.0.2.1", 5000}, {"198.51.100.2", 443}};
const proxied_ends by_ip6{{"2001:db8::1", 65535}, {"2001:db8::2", 0}};

// The example of section 2.1.
TEST(proxy_protocol, reads_a_line_of_version_1) {
  const auto read =
      read_proxy_header("PROXY TCP4 255.255.255.255 192.168.0.11 56324 443\r\nGET / HTTP/1.1\r\n");
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->size, 51U);
  EXPECT_EQ((*read)->of, (proxied_ends{{"255.255.255.255", 56324}, {"192.168.0.11", 443}}));
}

TEST(proxy_protocol, what_is_unknown_leaves_the_connection_as_it_is) {
  for (const auto& text : {"PROXY UNKNOWN\r\n"s, "PROXY UNKNOWN ffff:f::1 ffff:f::2 1 2\r\n"s,
                           write_proxy_header(2, std::nullopt), write_proxy_header(1, std::nullopt),
                           // Unix sockets: 216 bytes of addresses
                           "\r\n\r\n\0\r\nQUIT\n\x21\x31\0\xd8"s + std::string(216, 'x')}) {
    const auto read = read_proxy_header(text + "more");
    ASSERT_TRUE(read && *read) << text;
    EXPECT_EQ((*read)->size, text.size());
    EXPECT_FALSE((*read)->of);
  }
}

TEST(proxy_protocol, what_is_written_is_read_from_any_piece_on) {
  for (const int version : {1, 2}) {
    for (const auto& ends : {by_ip4, by_ip6}) {
      const auto text = write_proxy_header(version, ends);
      for (std::size_t size = 0; size < text.size(); ++size) {
        const auto part = read_proxy_header(std::string_view(text).substr(0, size));
        ASSERT_TRUE(part) << describe(part.error());
        EXPECT_FALSE(*part) << size;
      }
      const auto read = read_proxy_header(text + "PROXY");
      ASSERT_TRUE(read && *read);
      EXPECT_EQ((*read)->of, ends);
      EXPECT_EQ((*read)->size, text.size());
    }
  }
}

TEST(proxy_protocol, passes_over_what_version_2_tells_beside_the_addresses) {
  auto text = write_proxy_header(2, by_ip4);
  text[15] = 12 + 5;
  text += "\x04\0\x02??"s;
  const auto read = read_proxy_header(text);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->of, by_ip4);
  EXPECT_EQ((*read)->size, text.size());
}

TEST(proxy_protocol, refuses_what_is_no_header) {
  const auto v2 = "\r\n\r\n\0\r\nQUIT\n"s;
  for (const auto& text : {"GET / HTTP/1.1\r\n"s,
                           "PROXX"s,
                           "\r\nGET"s,
                           "proxy TCP4 "s,
                           "PROXY \r\n"s,
                           "PROXY TCP4\r\n"s,
                           "PROXY TCP5 1.2.3.4 1.2.3.4 1 2\r\n"s,
                           "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n"s,
                           "PROXY TCP4 1.2.3.4 1.2.3.4 1 2 3\r\n"s,
                           "PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n"s,
                           "PROXY TCP4 1.2.3.4 1.2.3.4 1 -2\r\n"s,
                           "PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n"s,
                           "PROXY TCP4 1.2.3 1.2.3.4 1 2\r\n"s,
                           "PROXY TCP4 ::1 ::1 1 2\r\n"s,
                           "PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n"s,
                           "PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n"s,
                           "PROXY "s + std::string(200, 'x'),
                           v2 + "\x11\x11\0\x0c"s,
                           v2 + "\x22\x11\0\x0c"s,
                           v2 + "\x21\x11\0\x0b"s,
                           v2 + "\x21\x21\0\x23"s,
                           v2 + "\x21\x31\0\x10"s,
                           v2 + "\x21\xff\0\0"s,
                           v2 + "\x20\x41\0\0"s,
                           v2 + "\x21\x13\0\x0c"s,
                           v2 + "\x21\x11\xff\xff"s}) {
    EXPECT_FALSE(read_proxy_header(text)) << text;
  }
}

}  // namespace
}  // namespace strata::proto
