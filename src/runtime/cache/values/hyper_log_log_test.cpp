// The hash and the encodings of HyperLogLogs. Integration tests compare the bytes with those of a
// redis-server.
#include "runtime/cache/values/hyper_log_log.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "runtime/cache/values/murmur_hash.hpp"

namespace strata::runtime::cache {
namespace {

constexpr std::size_t usual_max_size = 3000;

TEST(murmur_hash, gives_the_same_values_everywhere) {
  static_assert(murmur_hash("", 0) == 0);
  // Each length of the rest behind the last word of eight bytes changes the hash.
  std::string text;
  auto before = murmur_hash(text, 1);
  for (int i = 0; i < 20; ++i) {
    text += '\0';
    const auto hash = murmur_hash(text, 1);
    EXPECT_NE(hash, before);
    before = hash;
  }
}

TEST(hyper_log_log, dense_registers_do_not_affect_each_other) {
  auto bytes = hyper_log_log::make_empty();
  ASSERT_TRUE(hyper_log_log::make_dense(bytes));
  for (std::size_t i = 0; i < hyper_log_log::register_count; i += 3) {
    EXPECT_TRUE(hyper_log_log::raise_dense(bytes.data(), {i, 63}));
    EXPECT_FALSE(hyper_log_log::raise_dense(bytes.data(), {i, 62}));
  }
  for (std::size_t i = 0; i < hyper_log_log::register_count; ++i) {
    EXPECT_EQ(hyper_log_log::dense_register(bytes, i), i % 3 == 0 ? 63U : 0U);
  }
}

TEST(hyper_log_log, both_encodings_have_the_same_registers) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  auto sparse = hyper_log_log::make_empty();
  auto dense = sparse;
  ASSERT_TRUE(hyper_log_log::make_dense(dense));
  for (int i = 0; i < 2000; ++i) {
    const hyper_log_log::position position{random() % hyper_log_log::register_count,
                                           1 + static_cast<unsigned>(random() % 32)};
    const bool is_raised = hyper_log_log::raise_dense(dense.data(), position);
    EXPECT_EQ(hyper_log_log::raise(sparse, position, SIZE_MAX),
              is_raised ? hyper_log_log::outcome::raised : hyper_log_log::outcome::unchanged);
  }
  EXPECT_FALSE(hyper_log_log::is_dense(sparse));
  EXPECT_EQ(hyper_log_log::estimate(sparse), hyper_log_log::estimate(dense));
  EXPECT_TRUE(hyper_log_log::make_dense(sparse));
  EXPECT_EQ(sparse.substr(hyper_log_log::header_size), dense.substr(hyper_log_log::header_size));
}

// Neighbours often have equal ranks here, so that their runs are joined.
TEST(hyper_log_log, raising_all_registers_gives_the_bytes_of_one_after_another) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::size_t sparse_results = 0;
  for (int turn = 0; turn < 60; ++turn) {
    const auto most_ranks = 1 + random() % 3;
    const auto max_size = random() % 4 == 0 ? 200 : usual_max_size;
    auto bytes = hyper_log_log::make_empty();
    for (auto count = random() % 300; count > 0; --count) {
      const hyper_log_log::position position{random() % 600,
                                             1 + static_cast<unsigned>(random() % most_ranks)};
      ASSERT_NE(hyper_log_log::raise(bytes, position, usual_max_size),
                hyper_log_log::outcome::corrupt);
    }
    hyper_log_log::registers registers{};
    for (auto count = random() % 600; count > 0; --count) {
      const auto rank = random() % 1000 == 0 ? 33 : 1 + random() % most_ranks;
      registers[random() % 700] = static_cast<std::uint8_t>(rank);
    }
    auto expected = bytes;
    for (std::size_t i = 0; i < registers.size(); ++i) {
      if (registers[i] == 0) continue;
      ASSERT_NE(hyper_log_log::raise(expected, {i, registers[i]}, max_size),
                hyper_log_log::outcome::corrupt);
    }
    hyper_log_log::mark_outdated(expected.data());
    ASSERT_TRUE(hyper_log_log::raise_all(bytes, registers, max_size));
    ASSERT_EQ(bytes, expected) << hyper_log_log::describe_runs(expected);
    sparse_results += hyper_log_log::is_dense(bytes) ? 0U : 1U;
  }
  EXPECT_GT(sparse_results, 10U);
  EXPECT_LT(sparse_results, 60U);
}

TEST(hyper_log_log, random_runs_are_read_within_their_bounds) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto registers = std::make_unique<hyper_log_log::registers>();
  for (int turn = 0; turn < 3000; ++turn) {
    std::string bytes = hyper_log_log::make_empty().substr(0, hyper_log_log::header_size);
    const auto size = random() % 200;
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(random() % 256);
    // A buffer without spare room, so that a sanitizer sees a read behind it.
    const std::unique_ptr<char[]> exact(new char[bytes.size()]);
    bytes.copy(exact.get(), bytes.size());
    const std::string_view view(exact.get(), bytes.size());
    (void)hyper_log_log::estimate(view);
    (void)hyper_log_log::merge(*registers, view);
    (void)hyper_log_log::describe_runs(view);
    for (int i = 0; i < 5; ++i) {
      (void)hyper_log_log::raise(
          bytes,
          {random() % hyper_log_log::register_count, 1 + static_cast<unsigned>(random() % 40)},
          usual_max_size);
    }
    if (turn % 100 == 0) (void)hyper_log_log::raise_all(bytes, *registers, usual_max_size);
  }
}

}  // namespace
}  // namespace strata::runtime::cache
