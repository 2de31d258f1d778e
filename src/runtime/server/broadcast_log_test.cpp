#include "runtime/server/broadcast_log.hpp"

#include <gtest/gtest.h>

namespace strata::runtime::server {
namespace {

TEST(broadcast_log, gives_each_hearer_its_own_encoding_of_one_batch) {
  broadcast_log log(encoding::line);
  log.append({as_bytes("one")});
  log.append({as_bytes("three")});
  auto messages = log.take();
  EXPECT_EQ(messages.count(), 2U);
  EXPECT_EQ(as_text(messages.as(encoding::line).bytes()), "one\nthree\n");
  const auto& lengths = messages.as(encoding::length);
  EXPECT_EQ(as_text(lengths.bytes()), std::string_view("\0\0\0\3one\0\0\0\5three", 16));
  EXPECT_EQ(as_text(messages.as(encoding::raw).bytes()), "onethree");
  // Encoded once: the second caller gets the same memory.
  EXPECT_EQ(messages.as(encoding::length).bytes().data(), lengths.bytes().data());
  std::string own;
  for (const auto& each : messages.messages()) own += as_text(messages.part(each).bytes());
  EXPECT_EQ(own, "onethree");
  log.recycle(std::move(messages));
}

TEST(broadcast_log, text_and_binary_stay_what_they_were_and_the_rest_is_text_if_it_can_be) {
  broadcast_log log(encoding::line);
  log.append({as_bytes("a"), message_kind::text});
  log.append({as_bytes("b"), message_kind::binary});
  log.append({as_bytes("c")});
  log.append({as_bytes("\xff")});
  const auto messages = log.take();
  EXPECT_EQ(as_text(messages.as(encoding::websocket).bytes()),
            "\x81\1a"
            "\x82\1b"
            "\x81\1c"
            "\x82\1\xff");
}

TEST(broadcast_log, a_line_in_an_event_makes_no_second_event) {
  broadcast_log log(encoding::line);
  log.append({as_bytes("one\r\ntwo\rthree\n\nevent: fake")});
  const auto messages = log.take();
  EXPECT_EQ(as_text(messages.as(encoding::event_stream).bytes()),
            "data: one\ndata: two\ndata: three\ndata: \ndata: event: fake\n\n");
}

TEST(broadcast_log, what_is_long_goes_compressed_where_that_is_shorter) {
  broadcast_log log(encoding::websocket);
  log.append({as_bytes("short"), message_kind::text});
  const std::string alike(1000, 'a');
  log.append({as_bytes(alike), message_kind::text});
  const auto messages = log.take();
  const auto sent = as_text(messages.as(encoding::websocket_deflated).bytes());
  EXPECT_TRUE(sent.starts_with("\x81\5short\xc1")) << sent;
  EXPECT_LT(sent.size(), 50U);
}

}  // namespace
}  // namespace strata::runtime::server
