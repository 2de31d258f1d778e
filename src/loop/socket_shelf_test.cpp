#include "loop/socket_shelf.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace strata::loop {
namespace {

using enum socket_shelf::stay;

unique_fd open_socket(int type, const char* host = "127.0.0.1", bool listens = true) {
  unique_fd made(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  const auto address = socket_address::from_ip(host, 0);
  EXPECT_EQ(::bind(made.get(), address->data(), address->size()), 0);
  if (listens && type == SOCK_STREAM) {
    EXPECT_EQ(::listen(made.get(), 1), 0);
  }
  return made;
}

socket_address address_of(const unique_fd& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return {reinterpret_cast<const sockaddr*>(&address), size};
}

TEST(socket_shelf, gives_a_socket_once_by_address_and_type) {
  socket_shelf shelf;
  auto socket = open_socket(SOCK_STREAM);
  const auto address = address_of(socket);
  const int number = socket.get();
  shelf.put(std::move(socket), until_taken);
  EXPECT_FALSE(shelf.has(address, SOCK_DGRAM));
  EXPECT_FALSE(shelf.take(*socket_address::from_ip("127.0.0.1", 1), SOCK_STREAM));
  EXPECT_FALSE(shelf.has(address, SOCK_STREAM, IPPROTO_MPTCP));
  EXPECT_TRUE(shelf.has(address, SOCK_STREAM));
  const auto taken = shelf.take(address, SOCK_STREAM);
  EXPECT_EQ(taken.get(), number);
  EXPECT_TRUE((::fcntl(number, F_GETFL) & O_NONBLOCK) != 0);
  EXPECT_FALSE(shelf.take(address, SOCK_STREAM));
}

TEST(socket_shelf, keeps_what_its_giver_keeps) {
  socket_shelf shelf;
  auto socket = open_socket(SOCK_DGRAM);
  const auto address = address_of(socket);
  shelf.put(std::move(socket), always);
  for (int i = 0; i < 2; ++i) {
    const auto taken = shelf.take(address, SOCK_DGRAM);
    ASSERT_TRUE(taken);
    EXPECT_TRUE(shelf.keeps(taken.get()));
  }
  EXPECT_TRUE(shelf.close_untaken().empty());
  EXPECT_TRUE(shelf.has(address, SOCK_DGRAM));
}

TEST(socket_shelf, closes_what_nobody_takes_and_what_is_no_listening_socket) {
  socket_shelf shelf;
  auto socket = open_socket(SOCK_STREAM);
  const auto address = address_of(socket);
  shelf.put(std::move(socket), until_taken);
  shelf.put(open_socket(SOCK_STREAM, "127.0.0.1", false), until_taken);
  shelf.put(unique_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)), until_taken);
  shelf.put({}, until_taken);
  EXPECT_EQ(shelf.close_untaken(), std::vector{address});
  EXPECT_FALSE(shelf.has(address, SOCK_STREAM));
}

TEST(socket_shelf, a_socket_for_every_address_is_found) {
  socket_shelf shelf;
  unique_fd socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) GTEST_SKIP() << "this kernel has no IPv6";
  const auto every = socket_address::every(0);
  ASSERT_EQ(::bind(socket.get(), every.data(), every.size()), 0);
  ASSERT_EQ(::listen(socket.get(), 1), 0);
  const auto port = address_of(socket).port();
  shelf.put(std::move(socket), until_taken);
  EXPECT_FALSE(shelf.has(*socket_address::from_ip("127.0.0.1", port), SOCK_STREAM));
  EXPECT_TRUE(shelf.has(socket_address::every(port), SOCK_STREAM));
}

TEST(copies_of_listening_sockets, has_each_reachable_socket_once) {
  const auto stream = open_socket(SOCK_STREAM);
  const unique_fd second(::dup(stream.get()));
  const auto datagrams = open_socket(SOCK_DGRAM);
  const auto silent = open_socket(SOCK_STREAM, "127.0.0.1", false);
  const auto copies = copies_of_listening_sockets();
  const auto count = [&](const unique_fd& socket) {
    const auto address = address_of(socket);
    return std::ranges::count_if(
        copies, [&](const unique_fd& each) { return address_of(each) == address; });
  };
  EXPECT_EQ(count(stream), 1);
  EXPECT_EQ(count(datagrams), 1);
  EXPECT_EQ(count(silent), 0);
}

}  // namespace
}  // namespace strata::loop
