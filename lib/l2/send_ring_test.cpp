// Tests the fate of frames that a send ring cannot send. veth_test.hpp draws the namespace.
#include <gtest/gtest.h>

#include "l2/veth_test.hpp"
#include "strata/l2/packet_ring.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::l2 {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t ring_type = 0x88B5;

class send_ring_test : public veth_test {
 protected:
  void SetUp() override {
    veth_test::SetUp();
    if (IsSkipped()) return;
    packet_ring_options options{.socket = {.receives = false}};
    options.send_slots = 16;
    sender_.emplace(made(packet_ring::create_bound("vethA", options)));
    listener_.emplace(
        made(raw_socket::create_bound("vethB", {.filter = {.ethertype = ring_type}})));
  }
  template <class Value>
  static Value made(result<Value> value) {
    if (!value) throw std::runtime_error(describe(value.error()));
    return std::move(*value);
  }
  // Returns a frame with a number, `size` bytes long.
  std::vector<std::byte> numbered(std::uint8_t number, std::size_t size = 60) {
    const std::vector<std::byte> payload(size - wire::ethernet_header_size, std::byte{number});
    return *wire::build_simple_frame(listener_->link().mac, sender_->link().mac, ring_type, payload,
                                     9000);
  }
  // Sends each frame by itself; returns the numbers of the accepted ones.
  std::vector<int> send(std::initializer_list<int> numbers) {
    std::vector<int> taken;
    for (const int number : numbers) {
      const auto frame = numbered(static_cast<std::uint8_t>(number));
      const byte_span one(frame);
      const auto sent = sender_->try_send({&one, 1});
      EXPECT_TRUE(sent) << describe(sent.error());
      if (sent && *sent == 1) taken.push_back(number);
    }
    return taken;
  }
  // Returns the numbers of received frames, until none arrives.
  std::vector<int> received() {
    std::vector<int> numbers;
    std::vector<std::byte> memory(10000);
    while (const auto frame = listener_->receive_with_timeout(memory, 200ms)) {
      numbers.push_back(std::to_integer<int>(frame->bytes[wire::ethernet_header_size]));
    }
    return numbers;
  }
  int refused(std::size_t size) {
    const auto frame = numbered(99, size);
    const byte_span one(frame);
    const auto sent = sender_->try_send({&one, 1});
    EXPECT_FALSE(sent) << *sent << " taken";
    return sent ? 0 : sent.error().sys_errno;
  }

  std::optional<packet_ring> sender_;
  std::optional<raw_socket> listener_;
};

TEST_F(send_ring_test, a_frame_above_the_mtu_is_refused_and_those_behind_it_leave) {
  EXPECT_EQ(send({1, 2}), (std::vector{1, 2}));
  EXPECT_EQ(refused(1600), EMSGSIZE);  // a slot has room for it
  EXPECT_EQ(send({3, 4, 5}), (std::vector{3, 4, 5}));
  EXPECT_EQ(received(), (std::vector{1, 2, 3, 4, 5}));
}

TEST_F(send_ring_test, the_ring_goes_on_when_the_mtu_becomes_smaller) {
  run_command("ip link set vethA mtu 1400");
  EXPECT_EQ(refused(1450), EMSGSIZE);
  EXPECT_EQ(send({1, 2, 3}), (std::vector{1, 2, 3}));
  EXPECT_EQ(received(), (std::vector{1, 2, 3}));
}

TEST_F(send_ring_test, in_a_batch_the_error_is_of_its_frame) {
  std::vector<std::vector<std::byte>> frames;
  for (std::uint8_t number = 1; number <= 5; ++number) {
    frames.push_back(numbered(number, number == 3 ? 1600 : 60));
  }
  const std::vector<byte_span> all(frames.begin(), frames.end());
  const auto first = sender_->try_send(all);
  ASSERT_TRUE(first) << describe(first.error());
  EXPECT_EQ(*first, 2U);
  const auto second = sender_->try_send(std::span(all).subspan(2));
  ASSERT_FALSE(second) << *second;
  EXPECT_EQ(second.error().sys_errno, EMSGSIZE);
  EXPECT_NE(describe(second.error()).find("1600 bytes"), std::string::npos)
      << describe(second.error());
  const auto rest = sender_->try_send(std::span(all).subspan(3));
  ASSERT_TRUE(rest) << describe(rest.error());
  EXPECT_EQ(*rest, 2U);
  EXPECT_EQ(received(), (std::vector{1, 2, 4, 5}));
}

TEST_F(send_ring_test, what_is_refused_while_the_link_is_down_is_sent_once_when_it_is_up) {
  EXPECT_EQ(send({1}), std::vector{1});
  run_command("ip link set vethA down");
  for (std::uint8_t number = 2; number <= 3; ++number) {
    const auto frame = numbered(number);
    const byte_span one(frame);
    const auto sent = sender_->try_send({&one, 1});
    ASSERT_FALSE(sent) << *sent;
    EXPECT_EQ(sent.error().sys_errno, ENETDOWN);
  }
  run_command(
      "ip link set vethA up; while ip link show vethA | grep -q 'qdisc noop '; do "
      "sleep 0.01; done");
  (void)received();  // 1, and the link's going down
  EXPECT_EQ(send({2, 3, 4}), (std::vector{2, 3, 4}));
  EXPECT_EQ(received(), (std::vector{2, 3, 4}));
}

// A frame for which a shaper has no room is not accepted, and stays with the caller alone.
TEST_F(send_ring_test, behind_a_full_shaper_each_frame_leaves_once) {
  run_command("tc qdisc add dev vethA root tbf rate 1mbit burst 2000 limit 3000");
  std::vector<int> wanted;
  for (std::uint8_t number = 0; number < 200; ++number) {
    const auto sent = send_frame(*sender_, numbered(number));
    ASSERT_TRUE(sent) << describe(sent.error());
    wanted.push_back(number);
  }
  EXPECT_EQ(received(), wanted);
}

}  // namespace
}  // namespace strata::l2
