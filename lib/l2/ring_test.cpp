#include <gtest/gtest.h>

#include <algorithm>

#include "l2/veth_test.hpp"
#include "strata/l2/frame_ring.hpp"
#include "strata/l2/packet_ring.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::l2 {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t type = 0x88B5;

std::vector<std::byte> bytes_of(std::size_t count, int first) {
  std::vector<std::byte> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    made[i] = static_cast<std::byte>(first + static_cast<int>(i));
  }
  return made;
}

// Frames of all sizes, with all combinations of tags.
std::vector<wire::ethernet> samples(const mac_address& address, const mac_address& source) {
  std::vector<wire::ethernet> made;
  for (int i = 0; i < 200; ++i) {
    wire::ethernet each{
        address, source, {}, type, bytes_of(46 + static_cast<std::size_t>(i) * 7, i)};
    const wire::vlan_tci tci{static_cast<std::uint8_t>(i % 8), i % 3 == 0,
                             static_cast<std::uint16_t>(i % 4095)};
    if (i % 4 == 1) each.tags = {{0x8100, tci}};
    if (i % 4 == 2) each.tags = {{0x88A8, tci}, {0x8100, {1, true, 2}}};
    if (i % 4 == 3) each.tags = {{0x8100, {tci.priority, false, 0}}};
    made.push_back(std::move(each));
  }
  return made;
}

class ring_test : public veth_test {
 protected:
  template <class Ring, class Options>
  static Ring open(const char* name, const Options& options) {
    auto made = Ring::create_bound(name, options);
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
  static void send_all(device& device, const std::vector<wire::ethernet>& frames) {
    for (const auto& each : frames) {
      const auto sent = send_frame(device, *each.build());
      ASSERT_TRUE(sent) << describe(sent.error());
    }
  }
};

TEST_F(ring_test, blocks_show_frames_in_place_with_all_their_tags) {
  packet_ring_options options{.socket = {.filter = {.ethertype = type}}};
  options.block_size = 1U << 16U;
  // Nothing reads while they are sent; a slow sender fills a block by its timeout alone.
  options.block_count = 200;
  auto b = open<packet_ring>("vethB", options);
  auto a = open<raw_socket>("vethA", raw_socket_options{.receives = false});
  const auto sent = samples(b.link().mac, a.link().mac);
  send_all(a, sent);
  std::size_t arrived = 0;
  while (arrived < sent.size()) {
    const auto ready = wait_readable(b, 1000ms);
    ASSERT_TRUE(ready && *ready) << arrived;
    while (auto block = b.try_block()) {
      EXPECT_GT(block->size(), 0U);
      for (const auto& frame : *block) {
        EXPECT_EQ(wire::ethernet::copy_of(*wire::ethernet_view::parse(frame.bytes)), sent[arrived])
            << arrived;
        EXPECT_FALSE(frame.is_truncated());
        EXPECT_GT(frame.time_ns, 1'700'000'000'000'000'000U);
        ++arrived;
      }
    }
  }
  EXPECT_EQ(b.statistics()->received, sent.size());
}

TEST_F(ring_test, a_frame_ring_hands_over_each_frame_at_once) {
  auto b = open<frame_ring>(
      "vethB", frame_ring_options{.socket = {.filter = {.ethertype = type}}, .slots = 64});
  auto a = open<raw_socket>("vethA", raw_socket_options{.receives = false});
  const auto sent = samples(b.link().mac, a.link().mac);
  for (const auto& each : sent) {
    ASSERT_TRUE(a.send_raw(*each.build()));
    const auto ready = wait_readable(b, 1000ms);
    ASSERT_TRUE(ready && *ready);
    const auto frame = b.try_frame();
    ASSERT_TRUE(frame);
    EXPECT_EQ(wire::ethernet::copy_of(*wire::ethernet_view::parse((*frame)->bytes)), each);
    EXPECT_FALSE(b.try_frame());
  }
}

TEST_F(ring_test, what_a_ring_cannot_hold_is_counted_as_dropped) {
  auto b = open<frame_ring>(
      "vethB", frame_ring_options{.socket = {.filter = {.ethertype = type}}, .slots = 32});
  auto a = open<raw_socket>("vethA", raw_socket_options{.receives = false});
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(a.send_to(b.link().mac, type, bytes_of(50, i)));
  std::size_t arrived = 0;
  while (b.try_frame()) ++arrived;
  const auto counted = *b.statistics();
  EXPECT_EQ(counted.received, arrived);
  EXPECT_EQ(counted.received + counted.dropped, 100U);
  EXPECT_GT(counted.dropped, 0U);
}

TEST_F(ring_test, a_frame_ring_follows_an_mtu_that_grows) {
  auto b = open<frame_ring>(
      "vethB", frame_ring_options{.socket = {.filter = {.ethertype = type}}, .memory = 1U << 16U});
  auto a = open<raw_socket>("vethA", raw_socket_options{.receives = false});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(a.send_to(b.link().mac, type, bytes_of(50, i)));
  run_command("ip link set vethA mtu 9000; ip link set vethB mtu 9000");
  a.update_link(*interface::query("vethA"));
  b.update_link(*interface::query("vethB"));
  const auto large = bytes_of(9000, 1);
  ASSERT_TRUE(a.send_to(b.link().mac, type, large));
  std::vector<std::byte> memory(10000);
  const auto frame = receive_frame(b, memory, 1000ms);
  ASSERT_TRUE(frame) << describe(frame.error());
  EXPECT_FALSE(frame->is_truncated());
  EXPECT_TRUE(std::ranges::equal(wire::ethernet_view::parse(frame->bytes)->payload(), large));
  // Frames that were unread when the slots were replaced.
  const auto counted = *b.statistics();
  EXPECT_EQ(counted.dropped, 3U);
  // A shrinking MTU changes nothing.
  run_command("ip link set vethA mtu 1500; ip link set vethB mtu 1500");
  b.update_link(*interface::query("vethB"));
  ASSERT_TRUE(a.send_to(b.link().mac, type, bytes_of(50, 9)));
  EXPECT_TRUE(receive_frame(b, memory, 1000ms));
}

TEST_F(ring_test, both_rings_are_devices_and_the_send_ring_delivers) {
  packet_ring_options options{.socket = {.filter = {.ethertype = type}}};
  options.send_slots = 16;
  auto a = open<packet_ring>("vethA", options);
  auto b = open<packet_ring>("vethB", options);
  const auto sent = samples(b.link().mac, a.link().mac);
  send_all(a, sent);
  std::vector<std::byte> memory(4096);
  for (const auto& each : sent) {
    const auto frame = receive_frame(b, memory, 1000ms);
    ASSERT_TRUE(frame) << describe(frame.error());
    EXPECT_EQ(wire::ethernet::copy_of(*wire::ethernet_view::parse(frame->bytes)), each);
  }
}

TEST_F(ring_test, a_ring_may_be_replaced_while_a_block_is_half_read) {
  const packet_ring_options options{.socket = {.filter = {.ethertype = type}}};
  auto b = open<packet_ring>("vethB", options);
  auto a = open<raw_socket>("vethA", raw_socket_options{.receives = false});
  send_all(a, samples(b.link().mac, a.link().mac));
  std::vector<std::byte> memory(4096);
  ASSERT_TRUE(receive_frame(b, memory, 1000ms));
  b = open<packet_ring>("vethB", options);
  ASSERT_TRUE(a.send_to(b.link().mac, type, bytes_of(60, 1)));
  EXPECT_TRUE(receive_frame(b, memory, 1000ms));
}

TEST_F(ring_test, a_full_send_ring_says_so_and_goes_on) {
  packet_ring_options options{.socket = {.receives = false}};
  options.send_slots = 8;
  auto a = open<packet_ring>("vethA", options);
  auto b = open<raw_socket>("vethB", raw_socket_options{.filter = {.ethertype = type}});
  const auto frame = *wire::build_simple_frame(b.link().mac, a.link().mac, type, bytes_of(50, 1));
  std::vector<byte_span> many(100, frame);
  std::size_t taken = 0;
  while (taken < many.size()) {
    const auto now = a.try_send(std::span(many).subspan(taken));
    ASSERT_TRUE(now) << describe(now.error());
    EXPECT_LE(*now, 256U);
    taken += *now;
  }
  std::vector<std::byte> memory(4096);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(receive_frame(b, memory, 1000ms)) << i;
}

TEST_F(ring_test, frames_that_cannot_be_sent_are_refused) {
  packet_ring_options options;
  options.send_slots = 8;
  auto a = open<packet_ring>("vethA", options);
  EXPECT_EQ(send_frame(a, bytes_of(13, 0)).error().sys_errno, EINVAL);
  EXPECT_EQ(send_frame(a, bytes_of(60000, 0)).error().sys_errno, EMSGSIZE);
  EXPECT_TRUE(send_frame(a, bytes_of(60, 0)));
  EXPECT_EQ(packet_ring::create_bound("vethA", {.block_size = 5000}).error().code,
            errc::invalid_argument);
  EXPECT_EQ(packet_ring::create_bound("nosuch").error().code, errc::not_found);
  auto deaf = open<packet_ring>("vethA", packet_ring_options{});
  EXPECT_EQ(send_frame(deaf, bytes_of(60, 0)).error().code, errc::not_supported);
}

// The kernel would try, and end other processes to free memory.
TEST_F(ring_test, rings_that_are_too_large_are_refused_before_the_kernel_is_asked) {
  const auto refusal = [](const packet_ring_options& options) {
    const auto made = packet_ring::create_bound("vethA", options);
    return made ? "made" : std::string(name_of(made.error().code)) + describe(made.error());
  };
  const auto is_limit = [](const std::string& text) {
    return text.starts_with("limit_exceeded") && text.find("MiB") != std::string::npos;
  };
  EXPECT_PRED1(is_limit, refusal({.block_size = 1U << 30U, .block_count = 1000}));
  EXPECT_PRED1(is_limit, refusal({.block_count = SIZE_MAX}));
  EXPECT_PRED1(is_limit, refusal({.send_slots = SIZE_MAX}));
  EXPECT_PRED1(is_limit, refusal({.block_count = 3000, .send_slots = 150'000}));
  for (const frame_ring_options& options :
       {frame_ring_options{.slots = SIZE_MAX}, frame_ring_options{.slots = 1'000'000},
        frame_ring_options{.frame_size = SIZE_MAX}}) {
    const auto made = frame_ring::create_bound("vethA", options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, errc::limit_exceeded) << describe(made.error());
  }
}

TEST_F(ring_test, a_ring_tells_of_a_link_that_goes_down) {
  auto b = open<packet_ring>("vethB", packet_ring_options{});
  run_command("ip link set vethB down");
  std::vector<std::byte> memory(4096);
  const auto reported = receive_frame(b, memory, 1000ms);
  ASSERT_FALSE(reported);
  EXPECT_EQ(reported.error().sys_errno, ENETDOWN);
}

}  // namespace
}  // namespace strata::l2
