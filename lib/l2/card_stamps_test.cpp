// Tests timestamps by a network card, with a simulated card, since a veth has none. veth_test.hpp
// draws the namespace.
#include <gtest/gtest.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdarg>
#include <thread>

#include "l2/veth_test.hpp"
#include "strata/l2/frame_ring.hpp"
#include "strata/l2/packet_ring.hpp"

namespace {

struct played_card {
  hwtstamp_config config{};
  int reads = 0;
  int writes = 0;
};
thread_local played_card* played = nullptr;

}  // namespace

// Replaces libc's ioctl: the simulated card answers requests to a card.
extern "C" int ioctl(int fd, unsigned long request, ...) noexcept {  // NOLINT(cert-dcl50-cpp)
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  const bool is_for_card = request == SIOCGHWTSTAMP || request == SIOCSHWTSTAMP;
  if (played == nullptr || !is_for_card) {
    return static_cast<int>(::syscall(SYS_ioctl, fd, request, argument));
  }
  auto& config = *reinterpret_cast<hwtstamp_config*>(static_cast<ifreq*>(argument)->ifr_data);
  if (request == SIOCGHWTSTAMP) {
    ++played->reads;
    config = played->config;
  } else {
    ++played->writes;
    played->config = config;
  }
  return 0;
}

namespace strata::l2 {
namespace {

using namespace std::chrono_literals;

class card_stamps_test : public veth_test {
 protected:
  void SetUp() override {
    veth_test::SetUp();
    played = &card_;
  }
  void TearDown() override {
    played = nullptr;
    veth_test::TearDown();
  }
  static std::optional<raw_socket> open() {
    auto made = raw_socket::create_bound("vethA", {.timestamps = timestamping::hardware});
    EXPECT_TRUE(made);
    if (!made) return std::nullopt;
    return std::move(*made);
  }

  played_card card_;
};

// ptp4l sets the card like this, and depends on the timestamps of sent frames.
TEST_F(card_stamps_test, what_the_card_does_for_sent_frames_stays_and_the_rest_comes_back) {
  card_.config = {.flags = 0, .tx_type = HWTSTAMP_TX_ON, .rx_filter = HWTSTAMP_FILTER_PTP_V2_EVENT};
  auto one = open();
  EXPECT_EQ(card_.config.tx_type, HWTSTAMP_TX_ON);
  EXPECT_EQ(card_.config.rx_filter, HWTSTAMP_FILTER_ALL);
  auto other = open();
  one.reset();
  EXPECT_EQ(card_.config.rx_filter, HWTSTAMP_FILTER_ALL) << "one wants it still";
  other.reset();
  EXPECT_EQ(card_.config.tx_type, HWTSTAMP_TX_ON);
  EXPECT_EQ(card_.config.rx_filter, HWTSTAMP_FILTER_PTP_V2_EVENT);
  auto ring =
      packet_ring::create_bound("vethA", {.socket = {.timestamps = timestamping::hardware}});
  ASSERT_TRUE(ring) << describe(ring.error());
  EXPECT_EQ(card_.config.rx_filter, HWTSTAMP_FILTER_ALL);
  // A setting that another program has made meanwhile is kept.
  card_.config.rx_filter = HWTSTAMP_FILTER_NONE;
  ring = std::unexpected(error{});
  EXPECT_EQ(card_.config.rx_filter, HWTSTAMP_FILTER_NONE);
}

TEST_F(card_stamps_test, a_card_that_takes_all_times_already_is_left_alone) {
  card_.config = {.flags = 0, .tx_type = HWTSTAMP_TX_ON, .rx_filter = HWTSTAMP_FILTER_ALL};
  open().reset();
  EXPECT_GT(card_.reads, 0);
  EXPECT_EQ(card_.writes, 0);
}

TEST_F(card_stamps_test, the_card_takes_the_time_of_sent_frames_for_as_long_as_it_is_wanted) {
  card_.config = {.flags = 0, .tx_type = HWTSTAMP_TX_OFF, .rx_filter = HWTSTAMP_FILTER_NONE};
  auto received = open();
  auto sender = raw_socket::create_bound("vethA", {.send_timestamps = timestamping::hardware});
  ASSERT_TRUE(sender);
  EXPECT_EQ(card_.config.tx_type, HWTSTAMP_TX_ON);
  EXPECT_EQ(card_.config.rx_filter, HWTSTAMP_FILTER_ALL);
  received.reset();
  sender = std::unexpected(error{});
  EXPECT_EQ(card_.config.tx_type, HWTSTAMP_TX_OFF);
  EXPECT_EQ(card_.config.rx_filter, HWTSTAMP_FILTER_NONE);
}

TEST_F(card_stamps_test, a_time_that_the_kernel_took_is_not_said_to_be_the_cards) {
  const auto options = raw_socket_options{.timestamps = timestamping::hardware};
  auto plain = raw_socket::create_bound("vethA", options);
  auto slots = frame_ring::create_bound("vethA", {.socket = options});
  auto blocks = packet_ring::create_bound("vethA", {.socket = options});
  auto sender = raw_socket::create_bound("vethB", {.receives = false});
  ASSERT_TRUE(plain && slots && blocks && sender);
  std::vector<std::byte> memory(2000);
  for (device* each : {static_cast<device*>(&*plain), static_cast<device*>(&*slots),
                       static_cast<device*>(&*blocks)}) {
    received_frame received;
    for (int i = 0; i < 500 && received.time_ns == 0; ++i) {
      if (i != 0) std::this_thread::sleep_for(10ms);
      ASSERT_TRUE(sender->send_to(mac_address::broadcast(), 0x88B5, {}));
      const auto got = receive_frame(*each, memory, 1000ms);
      ASSERT_TRUE(got) << describe(got.error());
      received = *got;
    }
    EXPECT_GT(received.time_ns, 1'700'000'000'000'000'000U);
    EXPECT_FALSE(received.is_card_time);
  }
}

}  // namespace
}  // namespace strata::l2
