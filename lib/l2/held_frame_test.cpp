// Tests frames and blocks that their reader holds while the ring goes round. veth_test.hpp draws
// the namespace.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "l2/veth_test.hpp"
#include "strata/l2/frame_ring.hpp"
#include "strata/l2/packet_ring.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::l2 {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t held_type = 0x88B5;

class held_frame_test : public veth_test {
 protected:
  void SetUp() override {
    veth_test::SetUp();
    if (IsSkipped()) return;
    auto made = raw_socket::create_bound("vethA", {.receives = false});
    ASSERT_TRUE(made) << describe(made.error());
    sender_.emplace(std::move(*made));
  }
  void send(int number) {
    const std::vector<std::byte> payload(1000, static_cast<std::byte>(number));
    ASSERT_TRUE(sender_->send_to(mac_address::broadcast(), held_type, payload));
  }
  static int number_in(const received_frame& frame) {
    return std::to_integer<int>(frame.bytes[wire::ethernet_header_size]);
  }
  // Returns the next frame's number; -1 if none arrives.
  template <class Ring>
  static int next_of(Ring& ring) {
    std::vector<std::byte> memory(4096);
    const auto frame = receive_frame(ring, memory, 300ms);
    return frame ? number_in(*frame) : -1;
  }

  std::optional<raw_socket> sender_;
};

TEST_F(held_frame_test, a_frame_that_is_held_is_not_handed_out_again) {
  auto ring = frame_ring::create_bound(
      "vethB", {.socket = {.filter = {.ethertype = held_type}}, .slots = 8});
  ASSERT_TRUE(ring) << describe(ring.error());
  send(0);
  auto held = ring->try_frame();
  ASSERT_TRUE(held);
  for (int i = 1; i < 8; ++i) {
    send(i);
    const auto frame = ring->try_frame();
    ASSERT_TRUE(frame) << i;
    EXPECT_EQ(number_in(**frame), i);
  }
  // The ring has gone round: the kernel waits for the first slot, as does the reader.
  send(8);
  EXPECT_FALSE(ring->try_frame());
  EXPECT_EQ(number_in(**held), 0);
  EXPECT_EQ(ring->statistics()->dropped, 1U);
  held.reset();
  for (int i = 9; i < 30; ++i) {
    send(i);
    EXPECT_EQ(next_of(*ring), i);
  }
}

TEST_F(held_frame_test, a_block_that_is_held_is_not_handed_out_again) {
  packet_ring_options options{.socket = {.filter = {.ethertype = held_type}}};
  options.block_size = 4096;
  options.block_count = 4;
  auto ring = packet_ring::create_bound("vethB", options);
  ASSERT_TRUE(ring) << describe(ring.error());
  const auto block_of = [&](int number) {
    send(number);
    // While a block is held, poll reports a block as ready, so this asks the ring itself.
    auto block = ring->try_block();
    for (int i = 0; i < 200 && !block; ++i) {
      std::this_thread::sleep_for(5ms);
      block = ring->try_block();
    }
    return block;
  };
  auto held = block_of(0);
  ASSERT_TRUE(held);
  EXPECT_EQ(number_in(*held->begin()), 0);
  for (int i = 1; i < 4; ++i) {
    const auto block = block_of(i);
    ASSERT_TRUE(block) << i;
    EXPECT_EQ(number_in(*block->begin()), i);
  }
  EXPECT_FALSE(block_of(4)) << "the first block is held";
  held.reset();
  // The kernel continues with the frames that arrive after it notices the returned block.
  int number = 5;
  int received = -1;
  for (; received < 0 && number < 50; ++number) {
    send(number);
    received = next_of(*ring);
  }
  EXPECT_EQ(received, number - 1);
  for (; number < 120; ++number) {
    send(number);
    EXPECT_EQ(next_of(*ring), number);
  }
}

}  // namespace
}  // namespace strata::l2
