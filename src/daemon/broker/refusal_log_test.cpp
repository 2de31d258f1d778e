#include "daemon/broker/refusal_log.hpp"

#include <gtest/gtest.h>

namespace strata::daemon {
namespace {

using namespace std::chrono_literals;

TEST(refusal_log, a_user_that_is_refused_again_and_again_fills_no_log) {
  refusal_log log;
  const refusal_log::clock::time_point begin{};
  std::size_t lines = 0;
  for (int i = 0; i < 20'000; ++i) lines += log.lines_for(1000, "no", begin + i * 1ms).size();
  EXPECT_EQ(lines, refusal_log::most_lines);
  // Other users are still logged meanwhile.
  EXPECT_EQ(log.lines_for(1001, "no", begin + 30s), std::vector<std::string>{"no"});
  const auto later = log.lines_for(1000, "still no", begin + 60s);
  ASSERT_EQ(later.size(), 2U);
  EXPECT_EQ(later[0], "19990 more requests of user 1000 were refused");
  EXPECT_EQ(later[1], "still no");
}

}  // namespace
}  // namespace strata::daemon
