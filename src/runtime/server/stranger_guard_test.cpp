#include "runtime/server/stranger_guard.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace strata::runtime::server {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t seed = 1;

loop::socket_address at(const std::string& host) {
  return *loop::socket_address::from_ip(host, 9000);
}

TEST(stranger_guard, a_network_shares_its_allowance) {
  const auto guard = std::make_unique<stranger_guard>(seed);
  const loop::time_point now{100s};
  EXPECT_TRUE(guard->allows(at("192.0.2.1"), 600, now, 1000));
  EXPECT_FALSE(guard->allows(at("192.0.2.77"), 600, now, 1000));
  EXPECT_TRUE(guard->allows(at("192.0.2.77"), 400, now, 1000));
  EXPECT_FALSE(guard->allows(at("192.0.2.1"), 100, now + 50ms, 1000));
  EXPECT_TRUE(guard->allows(at("192.0.2.1"), 100, now + 101ms, 1000));
  EXPECT_TRUE(guard->allows(at("192.0.2.1"), 1000, now + 5s, 1000)) << "no more than a second's";
  EXPECT_FALSE(guard->allows(at("192.0.2.1"), 1, now + 5s, 1000));
}

TEST(stranger_guard, an_ipv6_network_is_a_56) {
  const auto guard = std::make_unique<stranger_guard>(seed);
  const loop::time_point now{100s};
  EXPECT_TRUE(guard->allows(at("2001:db8:0:1100::1"), 1000, now, 1000));
  EXPECT_FALSE(guard->allows(at("2001:db8:0:11ff::2"), 1000, now, 1000));
}

TEST(stranger_guard, as_much_as_fits_into_a_number_is_refused_and_harms_nothing) {
  const auto guard = std::make_unique<stranger_guard>(seed);
  EXPECT_FALSE(guard->allows(at("192.0.2.1"), 65535, loop::time_point{1s}, 1));
  EXPECT_TRUE(guard->allows(at("192.0.2.1"), 1, loop::time_point{1s}, 1));
}

TEST(stranger_guard, what_goes_round_is_not_heard_until_it_rests) {
  const auto guard = std::make_unique<stranger_guard>(seed);
  loop::time_point now{100s};
  for (unsigned i = 0; i < stranger_guard::most_repeats; ++i) {
    ASSERT_FALSE(guard->is_repeated(7, as_bytes("round"), now));
  }
  EXPECT_TRUE(guard->is_repeated(7, as_bytes("round"), now));
  EXPECT_FALSE(guard->is_repeated(8, as_bytes("round"), now)) << "another peer";
  EXPECT_FALSE(guard->is_repeated(7, as_bytes("other"), now));
  for (int i = 0; i < 20; ++i) {
    now += 900ms;
    ASSERT_TRUE(guard->is_repeated(7, as_bytes("round"), now)) << "it has not rested";
  }
  now += 1s;
  EXPECT_FALSE(guard->is_repeated(7, as_bytes("round"), now));
}

TEST(stranger_guard, what_is_repeated_slowly_is_always_heard) {
  const auto guard = std::make_unique<stranger_guard>(seed);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_FALSE(guard->is_repeated(7, as_bytes("tick"), loop::time_point{100s + i * 25ms}));
  }
}

}  // namespace
}  // namespace strata::runtime::server
