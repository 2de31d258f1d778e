#include "loop/backends/uring_buffers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace strata::loop {
namespace {

constexpr std::uint16_t count = 128;
constexpr std::uint32_t size = 36864;
constexpr std::uint32_t least = 32;  // that circulate

class uring_buffers_test : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(io_uring_queue_init(8, &ring_, 0), 0);
    ASSERT_TRUE(subject_.set_up(ring_));
    ASSERT_EQ(subject_.free(), least);
  }
  void TearDown() override { io_uring_queue_exit(&ring_); }

  /// A reap in which each free buffer has `bytes`, and one more receive found none. Afterwards all
  /// are given back.
  void reap_all_with(std::int32_t bytes) {
    std::vector<buffer> taken;
    taken.reserve(count);
    for (std::uint32_t id = 0; subject_.free() != 0; ++id) {
      io_uring_cqe filled{};
      filled.res = bytes;
      filled.flags = id << IORING_CQE_BUFFER_SHIFT | IORING_CQE_F_BUFFER;
      taken.push_back(subject_.take(filled));
    }
    subject_.note_want();
    subject_.note_reap();
    taken.clear();
    subject_.refill();
  }

  io_uring ring_{};
  uring_buffers subject_{count, size};
};

TEST_F(uring_buffers_test, many_small_receives_get_more_buffers) {
  reap_all_with(100);
  EXPECT_EQ(subject_.free(), 2 * least);
  reap_all_with(100);
  reap_all_with(100);
  EXPECT_EQ(subject_.free(), count) << "there are no more";
}

TEST_F(uring_buffers_test, a_stream_that_fills_its_buffers_gets_no_more) {
  for (int i = 0; i < 10; ++i) reap_all_with(size);
  EXPECT_EQ(subject_.free(), least);
}

TEST_F(uring_buffers_test, after_a_long_calm_fewer_circulate) {
  reap_all_with(100);
  for (int i = 0; i < 2000; ++i) subject_.note_reap();
  reap_all_with(size);
  EXPECT_EQ(subject_.free(), least);
}

}  // namespace
}  // namespace strata::loop
