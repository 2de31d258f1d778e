#include <fmt/format.h>
//
#include <gtest/gtest.h>

#include "strata/base/formatters.hpp"

namespace strata {
namespace {

TEST(formatters, values_of_the_library_are_written_by_fmt) {
  const mac_address mac = *mac_address::from_text("02:00:00:00:00:0a");
  EXPECT_EQ(fmt::format("{}|{:>20}", mac, mac), "02:00:00:00:00:0a|   02:00:00:00:00:0a");
  const auto failed = failure(errc::not_found, "find 'x'", "there is none");
  EXPECT_EQ(fmt::format("{}", failed.error()), "cannot find 'x': there is none");
  EXPECT_EQ(fmt::format("{}", errc::not_found), "not_found");
}

}  // namespace
}  // namespace strata
