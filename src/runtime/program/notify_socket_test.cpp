#include "runtime/program/notify_socket.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace strata::runtime::program {
namespace {

void send(const std::string& address, std::string_view message) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, address.data(), address.size());
  name.sun_path[0] = '\0';
  const unique_fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
  EXPECT_EQ(::sendto(socket.get(), message.data(), message.size(), 0,
                     reinterpret_cast<const sockaddr*>(&name), size),
            static_cast<ssize_t>(message.size()));
}

TEST(notify_socket, a_message_is_one_assignment_a_line) {
  EXPECT_EQ(read_notification("READY=1"), notification{.is_ready = true});
  EXPECT_EQ(read_notification("MAINPID=7\nREADY=1\nSTATUS=good\n"),
            (notification{.is_ready = true, .status = "good", .has_status = true}));
  EXPECT_EQ(read_notification("WATCHDOG=1\nSTOPPING=1"),
            (notification{.is_alive = true, .is_stopping = true}));
  EXPECT_TRUE(read_notification("STATUS=").has_status);
  for (const auto* const each : {"", "\n\n", "READY", "READY=", "READY=0", "READY=1 ", " READY=1",
                                 "XREADY=1", "WATCHDOG=trigger"}) {
    EXPECT_EQ(read_notification(each), notification{}) << each;
  }
  const auto hostile = read_notification(std::string_view("STATUS=\x1b[2J\0\xff", 13));
  EXPECT_EQ(hostile.status.find('\x1b'), std::string::npos) << hostile.status;
}

TEST(notify_socket, it_takes_what_its_user_sends) {
  auto socket = notify_socket::open();
  ASSERT_TRUE(socket);
  EXPECT_FALSE(take_notification(socket->fd(), ::getuid()));
  send(socket->address(), "STATUS=one");
  send(socket->address(), "READY=1");
  const auto first = take_notification(socket->fd(), ::getuid());
  ASSERT_TRUE(first);
  EXPECT_EQ(first->status, "one");
  EXPECT_EQ(take_notification(socket->fd(), ::getuid()), notification{.is_ready = true});
}

TEST(notify_socket, a_message_that_is_too_long_is_dropped) {
  auto socket = notify_socket::open();
  ASSERT_TRUE(socket);
  send(socket->address(), "READY=1\nSTATUS=" + std::string(5000, 'x'));
  send(socket->address(), "WATCHDOG=1");
  EXPECT_EQ(take_notification(socket->fd(), ::getuid()), notification{.is_alive = true});
}

}  // namespace
}  // namespace strata::runtime::program
