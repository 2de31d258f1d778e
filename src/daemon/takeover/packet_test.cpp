#include "daemon/takeover/packet.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <string>

#include "process/pipe.hpp"

namespace strata::daemon::takeover {
namespace {

class takeover_packet_test : public testing::Test {
 protected:
  takeover_packet_test() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    one_ = unique_fd(ends[0]);
    other_ = unique_fd(ends[1]);
  }

  [[nodiscard]] errc code_for(const std::string& bytes) const {
    EXPECT_EQ(::send(one_.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    const auto received = receive(other_.get());
    return received ? errc::system : received.error().code;
  }

  unique_fd one_;
  unique_fd other_;
};

TEST_F(takeover_packet_test, carries_a_message_with_its_descriptors) {
  std::vector<unique_fd> sent;
  for (std::size_t i = 0; i < process::most_packet_descriptors; ++i) {
    auto pipe = process::make_pipe();
    sent.push_back(std::move(pipe->read));
  }
  ASSERT_TRUE(send(one_.get(), {{"lock", true}}, sent));
  const auto received = receive(other_.get());
  ASSERT_TRUE(received);
  EXPECT_EQ(received->find<bool>("lock"), true);
  EXPECT_EQ(received->find<std::string>("lock"), std::nullopt);
  EXPECT_EQ(received->find<bool>("other"), std::nullopt);
  ASSERT_EQ(received->descriptors.size(), process::most_packet_descriptors);
  struct stat before{};
  struct stat after{};
  ASSERT_EQ(::fstat(sent.back().get(), &before), 0);
  ASSERT_EQ(::fstat(received->descriptors.back().get(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_F(takeover_packet_test, refuses_what_is_no_object) {
  EXPECT_EQ(code_for("no JSON"), errc::malformed);
  EXPECT_EQ(code_for("[]"), errc::malformed);
  EXPECT_EQ(code_for(std::string(70000, ' ')), errc::malformed);
  EXPECT_EQ(code_for(std::string(60000, '[')), errc::malformed);
}

TEST_F(takeover_packet_test, tells_the_end_of_the_other) {
  one_.reset();
  const auto received = receive(other_.get());
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, errc::connection_closed);
  EXPECT_FALSE(send(other_.get(), {{"ready", true}}));
}

TEST_F(takeover_packet_test, knows_a_peer_of_its_own_user) {
  EXPECT_TRUE(check_peer(one_.get(), "take over"));
}

TEST(is_older, compares_versions_number_by_number) {
  EXPECT_TRUE(is_older("0.1.0", "0.2.0"));
  EXPECT_TRUE(is_older("0.9.0", "0.10.0"));
  EXPECT_TRUE(is_older("1.0", "1.0.1"));
  EXPECT_TRUE(is_older("", "0.1"));
  EXPECT_FALSE(is_older("0.1.0", "0.1.0"));
  EXPECT_FALSE(is_older("1.0.0", "0.9.9"));
  EXPECT_FALSE(is_older("1.0", "1.0.0"));
}

}  // namespace
}  // namespace strata::daemon::takeover
