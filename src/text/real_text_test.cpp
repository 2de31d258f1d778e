#include "text/real_text.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

namespace strata::text {
namespace {

std::string as_c_prints(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string as_we_do(double value) {
  char text[40];
  return std::string(format_real(value, text));
}

void expect_same(double value) {
  ASSERT_EQ(as_we_do(value), as_c_prints(value));
  ASSERT_EQ(as_we_do(-value), as_c_prints(-value));
}

TEST(real_text, is_what_c_prints_at_every_border) {
  for (int power = -320; power <= 308; ++power) {
    for (const double factor : {1.0, 9.0, 9.9999999999999999, 1.25, 5.0, 9.5}) {
      double value = factor * std::pow(10.0, power);
      for (int i = 0; i < 4; ++i) value = std::nextafter(value, 0.0);
      for (int i = 0; i < 9; ++i) {
        expect_same(value);
        value = std::nextafter(value, std::numeric_limits<double>::infinity());
      }
    }
  }
  for (int power = -1074; power < 1024; ++power) expect_same(std::ldexp(1.0, power));
  expect_same(0);
  expect_same(std::numeric_limits<double>::infinity());
}

TEST(real_text, is_what_c_prints_for_random_values) {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200'000; ++i) {
    const auto any = std::bit_cast<double>(random());
    if (!std::isnan(any)) expect_same(any);
    // Numbers like scores: some digits before the point, and some after it.
    const auto digits = static_cast<double>(random() >> (random() % 64));
    expect_same(digits / std::pow(10.0, static_cast<double>(random() % 20)));
    expect_same(digits / std::ldexp(1.0, static_cast<int>(random() % 70)));
  }
}

}  // namespace
}  // namespace strata::text
