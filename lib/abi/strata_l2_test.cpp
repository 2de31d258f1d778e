// Tests the C ABI of raw Ethernet between the two ends of a veth.
#include "strata/strata_l2.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "l2/veth_test.hpp"

namespace strata::abi {
namespace {

template <auto Close>
struct ending {
  template <class Handle>
  void operator()(Handle* handle) const {
    Close(handle);
  }
};
using raw_handle = std::unique_ptr<strata_raw_socket, ending<strata_raw_socket_close>>;
using ring_handle = std::unique_ptr<strata_ring, ending<strata_ring_close>>;

constexpr int ethertype = 0x88b5;

raw_handle opened(const char* interface, const strata_raw_socket_options* options = nullptr) {
  strata_raw_socket* made = nullptr;
  EXPECT_EQ(strata_raw_socket_open(interface, options, &made), 0) << strata_last_error();
  return raw_handle(made);
}

strata_raw_socket_options only_ours() {
  strata_raw_socket_options options{};
  strata_raw_socket_defaults(&options);
  options.ethertype = ethertype;
  return options;
}

ring_handle ring_on(const char* interface, std::uint32_t kind, std::uint32_t send_slots = 0) {
  const auto socket = only_ours();
  strata_ring_options options{};
  strata_ring_defaults(&options);
  options.kind = kind;
  options.socket = &socket;
  options.send_slots = send_slots;
  strata_ring* made = nullptr;
  EXPECT_EQ(strata_ring_open(interface, &options, &made), 0) << strata_last_error();
  return ring_handle(made);
}

/// Returns frames whose payloads are their numbers, with a tag of that VID unless it is 0.
std::vector<std::string> numbered(int count, int vlan_id = 0) {
  std::vector<std::string> frames;
  for (int i = 0; i < count; ++i) {
    const auto payload = std::to_string(i);
    strata_frame frame{};
    std::memset(frame.destination, 0xff, sizeof frame.destination);
    frame.source[0] = 2;
    frame.ethertype = ethertype;
    if (vlan_id != 0) {
      frame.tag_count = 1;
      frame.tags[0] = {0, static_cast<std::uint16_t>(vlan_id), 5, 1};  // 0: 802.1Q
    }
    frame.payload = payload.data();
    frame.payload_size = payload.size();
    std::array<char, 128> memory{};
    std::size_t built = 0;
    EXPECT_EQ(strata_frame_build(&frame, 1500, memory.data(), memory.size(), &built), 0);
    frames.emplace_back(memory.data(), built);
  }
  return frames;
}

std::vector<iovec> spans_of(std::vector<std::string>& frames) {
  std::vector<iovec> spans;
  for (auto& frame : frames) spans.push_back({frame.data(), frame.size()});
  return spans;
}

/// Returns the number in a frame's payload, and checks that its tag, if it has one, is that of
/// `numbered`.
int number_in(const strata_received& received, int vlan_id = 0) {
  strata_frame frame{};
  EXPECT_EQ(strata_frame_parse(received.bytes, received.size, &frame), 0);
  EXPECT_EQ(frame.tag_count, vlan_id == 0 ? 0U : 1U);
  if (frame.tag_count == 1) {
    EXPECT_EQ(frame.tags[0].vlan_id, vlan_id);
    EXPECT_EQ(frame.tags[0].priority, 5);
    EXPECT_EQ(frame.tags[0].dei, 1);
  }
  return std::stoi(std::string(static_cast<const char*>(frame.payload), frame.payload_size));
}

using strata_l2_test = l2::veth_test;

TEST(strata_frame_tags, are_put_in_and_taken_out) {
  auto frame = numbered(1).front();
  std::string memory(frame.size() + 4, '\0');
  std::memcpy(memory.data() + 4, frame.data(), frame.size());
  strata_vlan_tag tag{0x88a8, 4094, 7, 1};
  ASSERT_EQ(strata_frame_push_tag(memory.data(), memory.size(), &tag), 0) << strata_last_error();
  strata_vlan_tag found{};
  ASSERT_EQ(strata_frame_outer_tag(memory.data(), memory.size(), &found), 1);
  EXPECT_EQ(std::memcmp(&found, &tag, sizeof tag), 0);
  EXPECT_EQ(strata_frame_pop_tag(memory.data(), memory.size()), 4U);
  EXPECT_EQ(memory.substr(4), frame);
  EXPECT_EQ(strata_frame_pop_tag(frame.data(), frame.size()), 0U);
  EXPECT_EQ(strata_frame_outer_tag(frame.data(), frame.size(), &found), 0);
  strata_vlan_tag plain{};
  plain.vlan_id = 10;
  ASSERT_EQ(strata_frame_push_tag(memory.data(), memory.size(), &plain), 0) << strata_last_error();
  ASSERT_EQ(strata_frame_outer_tag(memory.data(), memory.size(), &found), 1);
  EXPECT_EQ(found.tpid, 0x8100);
  tag.vlan_id = 4095;
  EXPECT_EQ(strata_frame_push_tag(memory.data(), memory.size(), &tag), -EINVAL);
  EXPECT_EQ(strata_frame_push_tag(memory.data(), 9, &found), -EINVAL);
}

TEST_F(strata_l2_test, many_frames_go_in_one_call) {
  const auto options = only_ours();
  const auto sender = opened("vethA");
  const auto receiver = opened("vethB", &options);
  std::vector<std::array<char, 128>> memory(64);
  std::vector<strata_slot> slots;
  for (auto& each : memory) slots.push_back({each.data(), each.size(), {}});
  std::size_t received = 7;
  ASSERT_EQ(
      strata_raw_socket_receive_batch(receiver.get(), slots.data(), slots.size(), 0, &received), 0);
  EXPECT_EQ(received, 0U);
  auto frames = numbered(40, 10);
  const auto spans = spans_of(frames);
  std::size_t sent = 0;
  ASSERT_EQ(strata_raw_socket_send_batch(sender.get(), spans.data(), spans.size(), &sent), 0);
  ASSERT_EQ(sent, 40U);
  int next = 0;
  while (next < 40) {
    ASSERT_EQ(strata_raw_socket_receive_batch(receiver.get(), slots.data(), slots.size(), 5000,
                                              &received),
              0)
        << strata_last_error();
    ASSERT_NE(received, 0U);
    for (std::size_t i = 0; i < received; ++i) EXPECT_EQ(number_in(slots[i].frame, 10), next++);
  }
  l2::run_command("ip link set vethB down");
  EXPECT_EQ(strata_raw_socket_receive_batch(receiver.get(), slots.data(), 1, 5000, &received),
            -ENETDOWN);
}

class strata_ring_test : public l2::veth_test, public testing::WithParamInterface<std::uint32_t> {};

TEST_P(strata_ring_test, lends_frames_until_the_next_call) {
  const auto sender = opened("vethA");
  const auto ring = ring_on("vethB", GetParam());
  std::array<strata_received, 16> lent{};
  std::size_t received = 7;
  ASSERT_EQ(strata_ring_receive(ring.get(), lent.data(), lent.size(), 0, &received), 0);
  EXPECT_EQ(received, 0U);
  // More rounds than the ring has slots, so that slots that are not given back would be noticed.
  int next = 0;
  for (int round = 0; round < 100; ++round) {
    auto frames = numbered(40, 20);
    const auto spans = spans_of(frames);
    std::size_t sent = 0;
    ASSERT_EQ(strata_raw_socket_send_batch(sender.get(), spans.data(), spans.size(), &sent), 0);
    ASSERT_EQ(sent, 40U);
    for (next = 0; next < 40;) {
      ASSERT_EQ(strata_ring_receive(ring.get(), lent.data(), lent.size(), 5000, &received), 0);
      ASSERT_NE(received, 0U);
      for (std::size_t i = 0; i < received; ++i) EXPECT_EQ(number_in(lent[i], 20), next++);
    }
  }
  ASSERT_EQ(strata_ring_receive(ring.get(), nullptr, 0, 0, &received), 0);
  pollfd idle{.fd = strata_ring_fd(ring.get()), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&idle, 1, 0), 0) << "all was given back";
  std::uint64_t counted = 0;
  std::uint64_t dropped = 1;
  ASSERT_EQ(strata_ring_statistics(ring.get(), &counted, &dropped), 0);
  EXPECT_EQ(counted, 4000U);
  EXPECT_EQ(dropped, 0U);
}

TEST_P(strata_ring_test, tells_each_time_that_the_link_goes_down) {
  const auto sender = opened("vethA");
  const auto ring = ring_on("vethB", GetParam());
  std::array<strata_received, 16> lent{};
  std::size_t received = 0;
  for (int i = 0; i < 2; ++i) {
    l2::run_command("ip link set vethB down");
    EXPECT_EQ(strata_ring_receive(ring.get(), lent.data(), lent.size(), 5000, &received),
              -ENETDOWN);
    EXPECT_EQ(strata_ring_receive(ring.get(), lent.data(), lent.size(), 0, &received), 0);
    l2::run_command("ip link set vethB up");
    auto frames = numbered(1);
    do {
      ASSERT_EQ(strata_raw_socket_send(sender.get(), frames[0].data(), frames[0].size()), 0)
          << strata_last_error();
      ASSERT_EQ(strata_ring_receive(ring.get(), lent.data(), lent.size(), 100, &received), 0);
    } while (received == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(kinds, strata_ring_test,
                         testing::Values(STRATA_RING_BLOCKS, STRATA_RING_FRAMES));

TEST_F(strata_l2_test, rings_send) {
  const auto receiver = ring_on("vethB", STRATA_RING_BLOCKS);
  for (const auto kind : {STRATA_RING_BLOCKS, STRATA_RING_FRAMES}) {
    const auto sender = ring_on("vethA", kind, 16);
    auto frames = numbered(8);
    const auto spans = spans_of(frames);
    std::size_t sent = 0;
    ASSERT_EQ(strata_ring_send(sender.get(), spans.data(), spans.size(), &sent), 0)
        << strata_last_error();
    ASSERT_EQ(sent, 8U);
    std::array<strata_received, 16> lent{};
    std::size_t received = 0;
    for (int next = 0; next < 8;) {
      ASSERT_EQ(strata_ring_receive(receiver.get(), lent.data(), lent.size(), 5000, &received), 0);
      ASSERT_NE(received, 0U);
      for (std::size_t i = 0; i < received; ++i) EXPECT_EQ(number_in(lent[i]), next++);
    }
    std::string large(1600, 'x');
    const iovec too_large{large.data(), large.size()};
    EXPECT_EQ(strata_ring_send(sender.get(), &too_large, 1, &sent), -EMSGSIZE);
  }
  const auto silent = ring_on("vethA", STRATA_RING_BLOCKS);
  auto frames = numbered(1);
  const auto spans = spans_of(frames);
  std::size_t sent = 0;
  EXPECT_EQ(strata_ring_send(silent.get(), spans.data(), 1, &sent), -EOPNOTSUPP);
}

TEST_F(strata_l2_test, a_group_of_sockets_shares_what_comes) {
  auto options = only_ours();
  options.fanout_group = 7;
  options.fanout_mode = STRATA_FANOUT_LOAD_BALANCE;
  options.priority = 3;
  options.receive_buffer = 1U << 20U;
  const auto sender = opened("vethA");
  const auto one = opened("vethB", &options);
  const auto other = opened("vethB", &options);
  auto frames = numbered(40);
  const auto spans = spans_of(frames);
  std::size_t sent = 0;
  ASSERT_EQ(strata_raw_socket_send_batch(sender.get(), spans.data(), spans.size(), &sent), 0);
  const auto count_of = [](strata_raw_socket* socket) {
    std::vector<std::array<char, 128>> memory(64);
    std::vector<strata_slot> slots;
    for (auto& each : memory) slots.push_back({each.data(), each.size(), {}});
    std::size_t all = 0;
    std::size_t received = 0;
    do {
      EXPECT_EQ(strata_raw_socket_receive_batch(socket, slots.data(), slots.size(), 50, &received),
                0);
      all += received;
    } while (received != 0);
    return all;
  };
  EXPECT_EQ(count_of(one.get()), 20U);
  EXPECT_EQ(count_of(other.get()), 20U);
}

TEST_F(strata_l2_test, who_joins_a_multicast_group_hears_it) {
  const std::array<std::uint8_t, 12> groups{1, 0, 0x5e, 0, 0, 7, 1, 0, 0x5e, 0, 0, 8};
  auto options = only_ours();
  options.multicast = groups.data();
  options.multicast_count = 2;
  const auto member = opened("vethB", &options);
  l2::run_command("ip maddr show dev vethB | grep -q 01:00:5e:00:00:07");
  l2::run_command("ip maddr show dev vethB | grep -q 01:00:5e:00:00:08");
}

TEST_F(strata_l2_test, what_cannot_be_is_refused_with_a_sentence) {
  strata_ring* made = nullptr;
  EXPECT_EQ(strata_ring_open("vethZ", nullptr, &made), -ENODEV);
  EXPECT_NE(std::string(strata_last_error()).find("vethZ"), std::string::npos);
  strata_ring_options options{};
  strata_ring_defaults(&options);
  options.block_size = 1U << 30U;
  options.block_count = 1000;
  EXPECT_EQ(strata_ring_open("vethA", &options, &made), -EMSGSIZE);
  EXPECT_EQ(strata_ring_open(nullptr, nullptr, &made), -EINVAL);
  EXPECT_EQ(made, nullptr);
}

}  // namespace
}  // namespace strata::abi
