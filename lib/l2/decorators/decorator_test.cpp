#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "strata/l2/decorators/capture_file.hpp"
#include "strata/l2/decorators/fake_device.hpp"
#include "strata/l2/decorators/fault_injector.hpp"
#include "strata/l2/decorators/tracer.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::l2 {
namespace {

constexpr std::uint16_t type = 0x88B5;

std::vector<std::byte> frame_number(int number) {
  const std::array<std::byte, 2> payload{static_cast<std::byte>(number >> 8),
                                         static_cast<std::byte>(number & 0xFF)};
  return *wire::build_simple_frame(mac_address::broadcast(), {}, type, payload);
}

std::vector<int> receive_all(device& device) {
  std::vector<int> arrived;
  std::vector<std::byte> memory(2048);
  frame_slot slot{.memory = memory, .frame = {}};
  while (device.try_receive({&slot, 1}).value_or(0) == 1) {
    const auto payload = wire::ethernet_view::parse(slot.frame.bytes)->payload();
    arrived.push_back(std::to_integer<int>(payload[0]) << 8 | std::to_integer<int>(payload[1]));
  }
  return arrived;
}

TEST(fake_device, what_one_end_sends_the_other_receives) {
  auto [a, b] = fake_device::make_pair(1500, 4);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(send_frame(*a, frame_number(i)));
  EXPECT_EQ(receive_all(*b), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(b->statistics()->dropped, 2U);
  EXPECT_TRUE(receive_all(*a).empty());
  EXPECT_EQ(send_frame(*a, std::vector<std::byte>(1519)).error().sys_errno, EMSGSIZE);
  EXPECT_EQ(send_frame(*a, std::vector<std::byte>(13)).error().sys_errno, EINVAL);
  a->set_up(false);
  EXPECT_EQ(send_frame(*b, frame_number(1)).error().sys_errno, ENETDOWN);
  a->set_up(true);
  ASSERT_TRUE(send_frame(*b, frame_number(9)));
  EXPECT_EQ(receive_all(*a), (std::vector<int>{9}));
  b.reset();
  EXPECT_EQ(send_frame(*a, frame_number(1)).error().sys_errno, ENODEV);
}

TEST(fault_injector, does_each_fault_as_often_as_asked_and_the_same_for_a_seed) {
  const auto run = [](const faults& faults) {
    auto [a, b] = fake_device::make_pair(1500, 100000);
    fault_injector bad(std::move(a), faults);
    for (int i = 0; i < 10000; ++i) EXPECT_TRUE(send_frame(bad, frame_number(i)));
    EXPECT_TRUE(bad.flush());
    return receive_all(*b);
  };
  EXPECT_EQ(run({}).size(), 10000U);
  const auto lossy = run({.loss = 0.2});
  EXPECT_NEAR(static_cast<double>(lossy.size()), 8000, 200);
  EXPECT_EQ(lossy, run({.loss = 0.2}));
  EXPECT_NE(lossy, run({.loss = 0.2, .seed = 2}));
  EXPECT_NEAR(static_cast<double>(run({.duplication = 0.1}).size()), 11000, 200);
  auto mixed = run({.reordering = 0.1});
  EXPECT_FALSE(std::ranges::is_sorted(mixed));
  std::ranges::sort(mixed);
  EXPECT_EQ(mixed, run({}));
  EXPECT_EQ(run({.delay = 0.1}), run({}));
  const auto corrupt = run({.corruption = 1});
  EXPECT_EQ(corrupt.size(), 10000U);
  EXPECT_NE(corrupt, run({}));
}

TEST(tracer, sees_what_passes_both_ways) {
  auto [a, b] = fake_device::make_pair();
  std::vector<tracer::direction> seen;
  tracer traced(std::move(a), [&](tracer::direction way, const received_frame& frame) {
    seen.push_back(way);
    EXPECT_EQ(frame.bytes.size(), 60U);
  });
  ASSERT_TRUE(send_frame(traced, frame_number(1)));
  ASSERT_TRUE(send_frame(*b, frame_number(2)));
  receive_all(traced);
  EXPECT_EQ(seen, (std::vector{tracer::direction::sent, tracer::direction::received}));
}

TEST(capture_file, says_when_the_file_cannot_be_written) {
  const auto refused = capture_file::create("/nonexistent/x.pcapng", interface{});
  ASSERT_FALSE(refused);
  EXPECT_NE(describe(refused.error()).find("/nonexistent/x.pcapng"), std::string::npos);
  auto full = capture_file::create("/dev/full", interface{});
  EXPECT_TRUE(!full || !full->flush());
}

TEST(capture_file, keeps_whole_blocks) {
  const auto path = testing::TempDir() + "strata_capture_test.pcapng";
  auto [a, b] = fake_device::make_pair();
  {
    auto file = capture_file::create(path, a->link());
    ASSERT_TRUE(file);
    capture_device kept(std::move(a), *file);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(send_frame(kept, frame_number(i)));
  }
  // Each block's length is written at both its ends.
  std::ifstream in(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  std::size_t at = 0;
  int blocks = 0;
  while (at < bytes.size()) {
    std::uint32_t length = 0;
    std::uint32_t again = 0;
    std::memcpy(&length, bytes.data() + at + 4, 4);
    ASSERT_LE(at + length, bytes.size());
    std::memcpy(&again, bytes.data() + at + length - 4, 4);
    ASSERT_EQ(length, again);
    at += length;
    ++blocks;
  }
  EXPECT_EQ(blocks, 5);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace strata::l2
