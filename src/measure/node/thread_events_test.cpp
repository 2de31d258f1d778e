#include "measure/node/thread_events.hpp"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/mman.h>

namespace strata::measure {
namespace {

// Two events that the kernel counts itself, whatever the processor can count.
constexpr std::array by_the_kernel{thread_event{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
                                   thread_event{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN}};

TEST(paths_thread_events, counts_what_its_thread_does_from_then_on) {
  const auto counting = thread_events::open(by_the_kernel);
  if (!counting) GTEST_SKIP() << "NO EVENTS CAN BE COUNTED: " << describe(counting.error());
  const auto before = counting->read();
  ASSERT_TRUE(before) << describe(before.error());
  constexpr std::size_t pages = 64;
  constexpr std::size_t page = 4096;
  auto* const memory = static_cast<volatile char*>(
      ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ::madvise(const_cast<char*>(memory), pages * page, MADV_NOHUGEPAGE);
  for (std::size_t i = 0; i < pages; ++i) memory[i * page] = 1;
  const auto after = counting->read();
  ::munmap(const_cast<char*>(memory), pages * page);
  ASSERT_TRUE(after) << describe(after.error());
  for (const std::size_t which : {0, 1}) EXPECT_GE((*after)[which] - (*before)[which], pages);
}

TEST(paths_thread_events, an_event_that_is_none_is_an_error) {
  auto wrong = by_the_kernel;
  wrong[1].which = 1'000'000;
  EXPECT_FALSE(thread_events::open(wrong));
}

// Either both are counted, or there is a reason: never zeros.
TEST(paths_thread_events, cycles_are_counted_or_there_is_a_reason) {
  const auto counting = thread_events::open_cycles_and_instructions();
  if (!counting) {
    EXPECT_NE(describe(counting.error()).find("cycles and instructions"), std::string::npos);
    return;
  }
  const auto seen = counting->read();
  ASSERT_TRUE(seen) << describe(seen.error());
  EXPECT_GT((*seen)[0], 0U);
  EXPECT_GT((*seen)[1], 0U);
}

}  // namespace
}  // namespace strata::measure
