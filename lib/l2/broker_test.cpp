#include "strata/l2/broker.hpp"

#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <thread>

#include "l2/packet_socket.hpp"
#include "l2/veth_test.hpp"

namespace strata::l2 {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t type = 0x88B5;

/// A daemon without a policy: serves one request, in the test's network namespace.
class open_handed {
 public:
  open_handed() : listener_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_.get(), 1) != 0) {
      throw std::runtime_error("no listener at " + path());
    }
    thread_ = std::thread([this] { serve(); });
  }
  ~open_handed() {
    thread_.join();
    ::unlink(path().c_str());
  }
  [[nodiscard]] std::string path() const {
    return testing::TempDir() + "strata-broker-" + std::to_string(::getpid());
  }

 private:
  void serve() {
    const unique_fd connection(::accept(listener_.get(), nullptr, nullptr));
    std::byte first{};
    ::recv(connection.get(), &first, 1, MSG_PEEK);
    auto came = broker::read_request(connection.get());
    auto what = came ? parse_request(came->message) : std::unexpected(came.error());
    auto given = what ? grant_request(connection.get(), *what) : std::unexpected(what.error());
    if (!given) broker::refuse(connection.get(), given.error());
  }

  unique_fd listener_;
  std::thread thread_;
};

class packet_broker_test : public veth_test {
 protected:
  static raw_socket given(const char* name, const raw_socket_options& options) {
    const open_handed daemon;
    auto made = raw_socket::open_through_daemon(name, options, daemon.path());
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
  static void send(const char* bytes, std::uint16_t ethertype) {
    auto sender = raw_socket::create_bound(bytes, {.receives = false});
    ASSERT_TRUE(sender && sender->send_to(mac_address::broadcast(), ethertype, {}));
  }
  // Returns 0, or the errno with which the bind is refused.
  static int bind_to(raw_socket& socket, const char* name) {
    const auto on = interface::query(name);
    const auto address = address_of(*on, ETH_P_ALL);
    const auto* const to = reinterpret_cast<const sockaddr*>(&address);
    return ::bind(socket.fd(), to, sizeof address) == 0 ? 0 : errno;
  }
  bool receives(raw_socket& socket) {
    return socket.receive_with_timeout(memory_, 100ms).has_value();
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(2000);
};

TEST_F(packet_broker_test, it_hears_and_sends_as_one_of_its_own_does) {
  auto b = given("vethB", {.filter = {.ethertype = type}});
  send("vethA", type + 1);
  EXPECT_FALSE(receives(b));
  send("vethA", type);
  EXPECT_TRUE(receives(b));
  auto a = given("vethA", {.filter = {.ethertype = type}, .promiscuous = true, .priority = 5});
  ASSERT_TRUE(b.send_to(a.link().mac, type, {}));
  EXPECT_TRUE(receives(a));
  EXPECT_FALSE(receives(b)) << "b hears itself";
}

TEST_F(packet_broker_test, its_owner_can_neither_bind_it_elsewhere_nor_take_its_filter_away) {
  auto b = given("vethB", {.filter = {.ethertype = type}});
  EXPECT_EQ(bind_to(b, "vethA"), EINVAL);
  EXPECT_EQ(bind_to(b, "vethB"), EINVAL);
  send("vethB", type);
  EXPECT_FALSE(receives(b)) << "the frames of vethA";
  send("vethA", type);
  EXPECT_TRUE(receives(b));
  const int off = 0;
  EXPECT_EQ(::setsockopt(b.fd(), SOL_SOCKET, SO_DETACH_FILTER, &off, sizeof off), -1);
  EXPECT_EQ(errno, EPERM);
}

TEST_F(packet_broker_test, one_that_only_sends_never_hears) {
  auto b = given("vethB", {.receives = false});
  EXPECT_EQ(bind_to(b, "vethB"), EINVAL);
  send("vethA", type);
  EXPECT_FALSE(receives(b));
  EXPECT_TRUE(b.send_to(mac_address::broadcast(), type, {}));
}

// A socket in another program's fanout group would take a part of that program's frames.
TEST_F(packet_broker_test, it_joins_nobodys_fanout_group) {
  const fanout group{.group = 7, .how = fanout::mode::load_balance};
  auto sniffer = raw_socket::create_bound("vethB", {.share = group});
  ASSERT_TRUE(sniffer) << describe(sniffer.error());
  for (const bool can_receive : {true, false}) {
    auto b = given("vethB", {.filter = {.ethertype = type}, .receives = can_receive});
    const auto address = address_of(b.link(), ETH_P_ALL);
    (void)::bind(b.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int join = PACKET_FANOUT_LB << 16 | group.group;
    EXPECT_EQ(::setsockopt(b.fd(), SOL_PACKET, PACKET_FANOUT, &join, sizeof join), -1);
    EXPECT_EQ(errno, EALREADY);
    for (int i = 0; i < 10; ++i) send("vethA", type + 1);
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(receives(*sniffer)) << i;
  }
  const auto refused = raw_socket::open_through_daemon("vethB", {.share = group}, "/nowhere");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::not_supported);
}

TEST_F(packet_broker_test, what_cannot_be_made_is_refused_in_the_daemons_words) {
  const open_handed daemon;
  const auto refused = raw_socket::open_through_daemon(
      "vethB", {.filter = {.vlan_id = 7, .untagged = true}}, daemon.path());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::malformed);
  EXPECT_NE(describe(refused.error()).find("the daemon answered: "), std::string::npos);
}

}  // namespace
}  // namespace strata::l2
