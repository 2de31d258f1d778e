// Tests timestamps of sent frames, and frames sent at a given time. veth_test.hpp draws the
// namespace. What etf does with them is tested in tests/guest/test_tsn.py, where the kernel has
// etf.
#include <poll.h>
#include <sys/syscall.h>

#include <thread>

#include "l2/veth_test.hpp"
#include "strata/l2/frame_ring.hpp"
#include "strata/l2/packet_ring.hpp"
#include "strata/l2/raw_socket.hpp"
#include "strata/l2/time_source.hpp"

namespace strata::l2 {
namespace {

using namespace std::chrono_literals;

class sent_frames_test : public veth_test {
 protected:
  static raw_socket open(const raw_socket_options& options) {
    auto made = raw_socket::create_bound("vethA", options);
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
  static std::uint64_t now_ns() {
    return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  }
  /// Waits for the report: a veth reports at once, other drivers later.
  static std::optional<sent_frame> reported(raw_socket& socket) {
    for (int i = 0; i < 200; ++i) {
      auto found = socket.try_sent();
      if (!found) throw std::runtime_error(describe(found.error()));
      if (*found) return *found;
      pollfd ready{socket.fd(), 0, 0};
      ::poll(&ready, 1, 10);
    }
    return std::nullopt;
  }
  static constexpr std::uint16_t type = 0x88B5;
};

TEST_F(sent_frames_test, each_frame_is_told_of_by_its_number_and_when_it_was_sent) {
  for (const bool receives : {true, false}) {
    auto on = open({.receives = receives, .send_timestamps = timestamping::software});
    EXPECT_EQ(on.try_sent().value(), std::nullopt);
    auto before = now_ns();
    for (std::uint32_t number = 0; number < 3; ++number) {
      ASSERT_TRUE(on.send_to(mac_address::broadcast(), type, {}));
      const auto found = reported(on);
      ASSERT_TRUE(found) << "of frame " << number;
      EXPECT_EQ(found->what, sent_frame::fate::sent);
      EXPECT_EQ(found->number, number);
      EXPECT_FALSE(found->is_card_time);
      EXPECT_GE(found->time_ns, before);
      EXPECT_LE(found->time_ns, now_ns());
      before = found->time_ns;
    }
    EXPECT_EQ(on.try_sent().value(), std::nullopt);
  }
}

TEST_F(sent_frames_test, a_batch_is_told_of_in_its_order) {
  auto on = open({.send_timestamps = timestamping::hardware});
  const std::vector<std::byte> frame(60);
  const std::vector<byte_span> batch(5, frame);
  ASSERT_EQ(on.try_send(batch).value(), 5U);
  for (std::uint32_t number = 0; number < 5; ++number) {
    const auto found = reported(on);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->number, number);
    EXPECT_FALSE(found->is_card_time) << "a veth has no card";
  }
}

TEST_F(sent_frames_test, what_is_received_goes_on_beside_it) {
  auto on = open({.timestamps = timestamping::software, .send_timestamps = timestamping::software});
  auto other = raw_socket::create_bound("vethB");
  ASSERT_TRUE(other);
  ASSERT_TRUE(on.send_to(mac_address::broadcast(), type, {}));
  ASSERT_TRUE(other->send_to(mac_address::broadcast(), type, {}));
  std::vector<std::byte> memory(2000);
  const auto received = on.receive_with_timeout(memory, 1000ms);
  ASSERT_TRUE(received) << describe(received.error());
  EXPECT_EQ(received->bytes.size(), 60U);
  EXPECT_TRUE(reported(on));
}

TEST_F(sent_frames_test, a_frame_may_have_a_time_only_where_a_clock_was_set) {
  auto on = open({});
  const std::vector<std::byte> frame(60);
  const auto refused = on.send_at(frame, now_ns());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::invalid_argument);
  EXPECT_TRUE(describe(refused.error()).contains("send_times")) << describe(refused.error());
  for (const auto clock : {send_clock::tai, send_clock::monotonic}) {
    auto timed = open({.send_times = clock});
    // This veth's discipline holds no frames: the frame is sent at once.
    const auto sent = timed.send_at(frame, now_ns());
    EXPECT_TRUE(sent) << describe(sent.error());
  }
  auto other = raw_socket::create_bound("vethB");
  ASSERT_TRUE(other);
  auto timed = open({.send_times = send_clock::tai});
  ASSERT_TRUE(timed.send_at(frame, now_ns()));
  std::vector<std::byte> memory(2000);
  EXPECT_TRUE(other->receive_with_timeout(memory, 1000ms));
}

TEST_F(sent_frames_test, without_privileges_there_is_the_monotonic_clock_only) {
  error refused;
  // Privileges set by the bare system call apply to this thread only.
  std::thread([&] {
    struct {
      std::uint32_t version = 0x20080522;
      int pid = 0;
    } head;
    constexpr std::uint32_t net_raw = 1U << 13U;
    struct {
      std::uint32_t effective, permitted, inheritable;
    } data[2] = {{net_raw, net_raw, 0}, {0, 0, 0}};
    ASSERT_EQ(::syscall(SYS_capset, &head, data), 0);
    auto made = raw_socket::create_bound("vethA", {.send_times = send_clock::tai});
    if (!made) refused = made.error();
    EXPECT_TRUE(raw_socket::create_bound("vethA", {.send_times = send_clock::monotonic}));
  }).join();
  EXPECT_EQ(refused.code, errc::permission_denied);
  EXPECT_TRUE(describe(refused).contains("use the monotonic clock")) << describe(refused);
}

TEST_F(sent_frames_test, a_ring_has_neither) {
  for (const raw_socket_options& wrong :
       {raw_socket_options{.send_timestamps = timestamping::software},
        raw_socket_options{.send_times = send_clock::monotonic}}) {
    const auto blocks = packet_ring::create_bound("vethA", {.socket = wrong});
    const auto slots = frame_ring::create_bound("vethA", {.socket = wrong});
    ASSERT_FALSE(blocks || slots);
    EXPECT_EQ(blocks.error().code, errc::invalid_argument);
    EXPECT_EQ(slots.error().code, errc::invalid_argument);
  }
}

TEST(time_source_test, waits_until_its_clock_shows_that_time) {
  for (const auto* const text : {"mono", "tai"}) {
    const auto clock = time_source::from_text(text);
    ASSERT_TRUE(clock);
    EXPECT_EQ(clock->text(), text);
    const auto until = clock->now_ns() + 2'000'000;
    EXPECT_EQ(clock->wait_until(until).value(), true);
    EXPECT_GE(clock->now_ns(), until);
    EXPECT_EQ(clock->wait_until(until - 1).value(), true) << "it is over";
  }
}

TEST(time_source_test, what_is_no_clock_is_refused) {
  EXPECT_EQ(time_source::from_text("utc").error().code, errc::invalid_argument);
  EXPECT_EQ(time_source::from_text("ptp:/dev/none0").error().code, errc::not_found);
  const auto null = time_source::from_text("ptp:/dev/null");
  ASSERT_FALSE(null);
  EXPECT_EQ(null.error().code, errc::not_supported);
  EXPECT_EQ(describe(null.error()),
            "cannot open the PTP clock /dev/null: it is not a PTP clock; use a device /dev/ptpN");
}

}  // namespace
}  // namespace strata::l2
