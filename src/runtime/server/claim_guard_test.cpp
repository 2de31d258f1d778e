#include "runtime/server/claim_guard.hpp"

#include <gtest/gtest.h>

namespace strata::runtime::server {
namespace {

using namespace std::chrono_literals;

constexpr loop::time_point start{1000s};

claim_guard::claimant from(const std::string& host, bool has_connection = true) {
  return {*loop::socket_address::from_ip(host, 1), has_connection};
}

// The pause after `count` wrong claims at once.
loop::duration wrong(claim_guard& guard, const claim_guard::claimant& claimant, unsigned count,
                     loop::time_point now) {
  loop::duration pause{};
  for (unsigned i = 0; i < count; ++i) pause = guard.note_wrong(claimant, now);
  return pause;
}

TEST(claim_guard, five_wrong_ones_bring_a_pause_that_doubles) {
  claim_guard guard;
  const auto ann = from("192.0.2.1");
  EXPECT_EQ(wrong(guard, ann, 4, start), 0s);
  EXPECT_TRUE(guard.admits(ann, start));
  EXPECT_EQ(guard.note_wrong(ann, start), 1s);
  EXPECT_FALSE(guard.admits(ann, start + 999ms));
  EXPECT_TRUE(guard.admits(ann, start + 1s));
  EXPECT_TRUE(guard.admits(from("192.0.2.2"), start));
  auto now = start + 1s;
  for (const auto expected : {2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    EXPECT_EQ(guard.note_wrong(ann, now), expected);
    now += expected;
  }
}

TEST(claim_guard, a_right_one_makes_good) {
  claim_guard guard;
  const auto ann = from("192.0.2.1");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(wrong(guard, ann, 4, start), 0s);
    guard.note_right(ann);
  }
}

TEST(claim_guard, old_ones_are_forgotten) {
  claim_guard guard;
  const auto ann = from("192.0.2.1");
  EXPECT_EQ(wrong(guard, ann, 5, start), 1s);
  EXPECT_EQ(wrong(guard, ann, 4, start + 11min), 0s);
}

TEST(claim_guard, an_ipv6_network_is_one_and_a_forger_locks_out_no_connection) {
  claim_guard guard;
  EXPECT_EQ(wrong(guard, from("2001:db8::1"), 5, start), 1s);
  EXPECT_FALSE(guard.admits(from("2001:db8::ffff:2"), start));
  EXPECT_TRUE(guard.admits(from("2001:db8:0:1::1"), start));
  EXPECT_EQ(wrong(guard, from("192.0.2.1", false), 5, start), 1s);
  EXPECT_FALSE(guard.admits(from("192.0.2.1", false), start));
  EXPECT_TRUE(guard.admits(from("192.0.2.1"), start));
}

TEST(claim_guard, all_addresses_together_have_a_limit) {
  claim_guard guard;
  for (unsigned i = 0; i < claim_guard::most_wrong_a_second; ++i) {
    const auto each = from("10.0.0." + std::to_string(i));
    ASSERT_TRUE(guard.admits(each, start));
    ASSERT_EQ(guard.note_wrong(each, start), 0s);
  }
  EXPECT_FALSE(guard.admits(from("192.0.2.1"), start));
  EXPECT_TRUE(guard.admits(from("192.0.2.1"), start + 1s));
}

TEST(claim_guard, of_too_many_addresses_the_oldest_is_forgotten) {
  claim_guard guard;
  auto now = start;
  EXPECT_EQ(wrong(guard, from("192.0.2.1"), 4, now), 0s);
  EXPECT_EQ(wrong(guard, from("192.0.2.2"), 4, now + 1ms), 0s);
  for (std::size_t i = 0; i < claim_guard::most_addresses - 1; ++i) {
    now += 10ms;
    (void)guard.note_wrong(from("10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256)),
                           now);
  }
  EXPECT_EQ(guard.note_wrong(from("192.0.2.2"), now), 1s);
  EXPECT_EQ(guard.note_wrong(from("192.0.2.1"), now), 0s);
}

}  // namespace
}  // namespace strata::runtime::server
