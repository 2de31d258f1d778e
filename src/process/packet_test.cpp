#include "process/packet.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "process/pipe.hpp"

namespace strata::process {
namespace {

struct connected_pair {
  unique_fd first;
  unique_fd second;
};

connected_pair make_pair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {unique_fd(ends[0]), unique_fd(ends[1])};
}

TEST(packet, text_and_descriptors_arrive) {
  const auto pair = make_pair();
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  const std::array<int, 2> sent{pipe->read.get(), pipe->write.get()};
  ASSERT_TRUE(send_packet(pair.first.get(), "hello", sent));
  pipe = {};
  const auto received = receive_packet(pair.second.get());
  ASSERT_TRUE(received && *received);
  EXPECT_EQ((*received)->text, "hello");
  ASSERT_EQ((*received)->descriptors.size(), 2U);
  EXPECT_TRUE(write_all((*received)->descriptors[1].get(), "x"));
  char letter = 0;
  EXPECT_EQ(::read((*received)->descriptors[0].get(), &letter, 1), 1);
}

TEST(packet, nothing_waits_and_an_end_is_an_error) {
  auto pair = make_pair();
  const auto nothing = receive_packet(pair.second.get());
  ASSERT_TRUE(nothing);
  EXPECT_FALSE(*nothing);
  pair.first.reset();
  const auto ended = receive_packet(pair.second.get());
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, errc::connection_closed);
  EXPECT_FALSE(send_packet(pair.second.get(), "a"));
}

TEST(packet, one_arrives_from_an_end_that_was_closed_with_others_unread) {
  auto pair = make_pair();
  ASSERT_TRUE(send_packet(pair.first.get(), "unread"));
  ASSERT_TRUE(send_packet(pair.second.get(), "last"));
  pair.second.reset();
  const auto received = receive_packet(pair.first.get());
  ASSERT_TRUE(received && *received);
  EXPECT_EQ((*received)->text, "last");
  EXPECT_FALSE(receive_packet(pair.first.get()));
}

TEST(packet, one_that_is_too_long_is_refused) {
  const auto pair = make_pair();
  ASSERT_TRUE(send_packet(pair.first.get(), std::string(most_packet_bytes + 1, 'x')));
  const auto received = receive_packet(pair.second.get());
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, errc::malformed);
}

TEST(packet, the_kernel_attests_the_other_end) {
  const auto pair = make_pair();
  const auto peer = peer_of(pair.first.get());
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->process, ::getpid());
  EXPECT_EQ(peer->user, ::geteuid());
}

}  // namespace
}  // namespace strata::process
