#include "proto/resp/resp_text.hpp"

#include <gtest/gtest.h>

namespace strata::proto {
namespace {

TEST(plain_text, says_each_kind_of_reply) {
  EXPECT_EQ(plain_text("+OK\r\n"), "ok\n");
  EXPECT_EQ(plain_text("+PONG\r\n:42\r\n"), "PONG\n42\n");
  EXPECT_EQ(plain_text("-ERR no\r\n"), "error: ERR no\n");
  EXPECT_EQ(plain_text("$5\r\nhello\r\n$-1\r\n_\r\n"), "hello\n(nil)\n(nil)\n");
  EXPECT_EQ(plain_text("*2\r\n$1\r\na\r\n:7\r\n*0\r\n*-1\r\n"), "a\n7\n(empty)\n(nil)\n");
  EXPECT_EQ(plain_text("%1\r\n+a\r\n,1.5\r\n#t\r\n=8\r\ntxt:note\r\n"), "a\n1.5\ntrue\nnote\n");
}

TEST(plain_text, leaves_out_what_is_cut_off) {
  EXPECT_EQ(plain_text("+a\r\n$5\r\nhel"), "a\n");
  EXPECT_EQ(plain_text("*3\r\n+a\r\n"), "a\n");
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "*1\r\n";
  EXPECT_EQ(plain_text(deep + "+x\r\n"), "");
}

}  // namespace
}  // namespace strata::proto
