#include "runtime/proxy/admission/client_rates.hpp"

#include <gtest/gtest.h>

#include "runtime/rate_limiter.hpp"

namespace strata::runtime::proxy {
namespace {

constexpr std::int64_t start = 1'000 * one_second_ns;

loop::socket_address at(const std::string& host) { return *loop::socket_address::from_ip(host, 1); }

TEST(client_rates, a_second_s_worth_may_come_at_once) {
  client_rates rates;
  for (int count = 0; count < 5; ++count) EXPECT_EQ(rates.wait_of(at("192.0.2.1"), start, 5), 0);
  EXPECT_EQ(rates.wait_of(at("192.0.2.1"), start, 5), one_second_ns / 5);
  EXPECT_EQ(rates.wait_of(at("192.0.2.2"), start, 5), 0);
  EXPECT_EQ(rates.wait_of(at("192.0.2.1"), start + one_second_ns / 5, 5), 0);
  EXPECT_GT(rates.wait_of(at("192.0.2.1"), start + one_second_ns / 5, 5), 0);
}

TEST(client_rates, of_one_a_second_one_may_come) {
  client_rates rates;
  EXPECT_EQ(rates.wait_of(at("::1"), start, 1), 0);
  EXPECT_EQ(rates.wait_of(at("::1"), start, 1), one_second_ns);
  EXPECT_EQ(rates.wait_of(at("::1"), start + one_second_ns, 1), 0);
}

TEST(client_rates, a_network_of_64_bits_is_one_client) {
  client_rates rates;
  EXPECT_EQ(rates.wait_of(at("2001:db8::1"), start, 1), 0);
  EXPECT_GT(rates.wait_of(at("2001:db8::ffff:2"), start, 1), 0);
  EXPECT_EQ(rates.wait_of(at("2001:db8:0:1::1"), start, 1), 0);
}

TEST(client_rates, no_limit_and_no_address_count_nothing) {
  client_rates rates;
  const auto path = *loop::socket_address::from_path("/x");
  for (int count = 0; count < 9; ++count) {
    EXPECT_EQ(rates.wait_of(at("192.0.2.1"), start, 0), 0);
    EXPECT_EQ(rates.wait_of(path, start, 1), 0);
  }
  EXPECT_EQ(rates.size(), 0U);
}

loop::socket_address numbered(unsigned number) {
  return at("10." + std::to_string(number >> 16U) + "." + std::to_string((number >> 8U) & 255U) +
            "." + std::to_string(number & 255U));
}

TEST(client_rates, of_too_many_the_oldest_goes_first) {
  client_rates rates;
  for (unsigned each = 0; each < client_rates::most_clients + 1000; ++each) {
    EXPECT_EQ(rates.wait_of(numbered(each), start, 1), 0);
    EXPECT_LE(rates.size(), client_rates::most_clients);
  }
  EXPECT_EQ(rates.wait_of(numbered(0), start, 1), 0);
  EXPECT_GT(rates.wait_of(numbered(client_rates::most_clients), start, 1), 0);
}

TEST(client_rates, those_that_are_quiet_are_forgotten) {
  client_rates rates;
  for (unsigned each = 0; each < 100; ++each) {
    EXPECT_EQ(rates.wait_of(numbered(each), start, 1), 0);
  }
  EXPECT_EQ(rates.size(), 100U);
  for (unsigned each = 0; each < 100; ++each) {
    EXPECT_EQ(rates.wait_of(numbered(1000), start + (each + 2) * one_second_ns, 1), 0);
  }
  EXPECT_EQ(rates.size(), 1U);
}

}  // namespace
}  // namespace strata::runtime::proxy
