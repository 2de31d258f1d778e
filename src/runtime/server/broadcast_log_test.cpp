#include "runtime/server/broadcast_log.hpp"

#include <gtest/gtest.h>

namespace strata::runtime::server {
namespace {

TEST(broadcast_log, gives_each_hearer_its_own_framing_of_one_batch) {
  broadcast_log log(proto::framing::line);
  log.append(as_bytes("one"));
  log.append(as_bytes("three"));
  auto messages = log.take();
  EXPECT_EQ(messages.count(), 2U);
  EXPECT_EQ(as_text(messages.as(proto::framing::line).bytes()), "one\nthree\n");
  const auto& lengths = messages.as(proto::framing::length);
  EXPECT_EQ(as_text(lengths.bytes()), std::string_view("\0\0\0\3one\0\0\0\5three", 16));
  EXPECT_EQ(as_text(messages.as(proto::framing::raw).bytes()), "onethree");
  // Encoded once: the second who asks gets the same memory.
  EXPECT_EQ(messages.as(proto::framing::length).bytes().data(), lengths.bytes().data());
  std::string own;
  for (const auto& each : messages.messages()) own += as_text(messages.part(each).bytes());
  EXPECT_EQ(own, "onethree");
  log.recycle(std::move(messages));
}

}  // namespace
}  // namespace strata::runtime::server
