// Tests sending through a queueing discipline that is slower than the sender:
//
//     vethA (tbf, 1 Mbit/s) <==========> vethB        in a namespace of the test's own
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "l2/veth_test.hpp"
#include "strata/l2/raw_socket.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::l2 {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t shaped_type = 0x88B5;
constexpr std::uint64_t frame_count = 300;

class shaper_test : public veth_test {
 protected:
  void SetUp() override {
    veth_test::SetUp();
    if (IsSkipped()) return;
    run_command("tc qdisc add dev vethA root tbf rate 1mbit burst 2000 limit 3000");
    auto made = raw_socket::create_bound("vethA", {.receives = false});
    ASSERT_TRUE(made) << describe(made.error());
    sender_.emplace(std::move(*made));
    frame_ = *wire::build_simple_frame(mac_address::broadcast(), sender_->link().mac, shaped_type,
                                       std::vector<std::byte>(46));
  }
  // Returns the counter of that name in `tc -s`.
  static std::uint64_t count(const std::string& what) {
    const std::string line =
        "tc -s -j qdisc show dev vethA | python3 -c 'import json,sys; "
        "print(json.load(sys.stdin)[0][\"" +
        what + "\"])'";
    const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(line.c_str(), "r"), ::pclose);
    std::array<char, 64> text{};
    return std::fgets(text.data(), text.size(), output.get()) == nullptr ? 0
                                                                         : std::stoull(text.data());
  }

  std::optional<raw_socket> sender_;
  std::vector<std::byte> frame_;
};

// The shaper counts each try that finds no room as a dropped frame.
TEST_F(shaper_test, send_frame_waits_for_room_without_trying_all_the_time) {
  for (std::uint64_t i = 0; i < frame_count; ++i) {
    const auto sent = send_frame(*sender_, frame_);
    ASSERT_TRUE(sent) << i << ": " << describe(sent.error());
  }
  EXPECT_LT(count("drops"), 10 * frame_count);
}

TEST_F(shaper_test, send_raw_waits_for_room_as_it_promises) {
  for (std::uint64_t i = 0; i < frame_count; ++i) {
    const auto sent = sender_->send_raw(frame_);
    ASSERT_TRUE(sent) << i << ": " << describe(sent.error());
  }
  EXPECT_LT(count("drops"), 10 * frame_count);
}

// The shaper's burst is smaller than the frame, so it never accepts the frame.
TEST_F(shaper_test, a_wait_for_room_ends_at_its_deadline) {
  const std::vector<std::byte> large(3000, std::byte{0xFF});
  run_command("ip link set vethA mtu 9000");
  for (const auto& outcome :
       {send_frame(*sender_, large, 100ms), sender_->send_raw(large, 100ms)}) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, errc::timed_out);
    EXPECT_NE(describe(outcome.error()).find("tc -s qdisc show dev vethA"), std::string::npos)
        << describe(outcome.error());
  }
  EXPECT_TRUE(sender_->send_raw(frame_, 5s));
}

}  // namespace
}  // namespace strata::l2
