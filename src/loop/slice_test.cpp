#include "loop/slice.hpp"

#include <gtest/gtest.h>

#include <string>

namespace strata::loop {
namespace {

std::string text_of(const slice& slice) { return std::string(as_text(slice.bytes())); }

TEST(slice, of_a_long_text_takes_its_memory) {
  std::string text(100'000, 'x');
  text.back() = 'y';
  const auto* const memory = text.data();
  auto whole = slice::of(std::move(text));
  EXPECT_EQ(static_cast<const void*>(whole.bytes().data()), memory);
  EXPECT_EQ(whole.size(), 100'000U);
  EXPECT_EQ(whole.pinned(), 100'000U);
  EXPECT_FALSE(whole.append(as_bytes("z"))) << "there is no room behind it";
  const auto last = whole.part(99'999, 1);
  whole = {};
  EXPECT_EQ(text_of(last), "y") << "a part keeps the memory";
}

TEST(slice, of_a_short_text_is_a_copy) {
  EXPECT_EQ(text_of(slice::of("short")), "short");
  EXPECT_EQ(text_of(slice::of({})), "");
  const std::string text(1023, 'x');
  EXPECT_EQ(text_of(slice::of(text)), text);
}

TEST(slice, extends_and_appends_within_its_chunk) {
  auto whole = slice::copy_of(as_bytes("abcdef"), 3);
  auto first = whole.part(0, 2);
  EXPECT_FALSE(first.extend(whole.part(3, 1))) << "it does not follow";
  EXPECT_TRUE(first.extend(whole.part(2, 2)));
  EXPECT_EQ(text_of(first), "abcd");
  EXPECT_FALSE(whole.append(as_bytes("g"))) << "the chunk is shared";
  first = {};
  EXPECT_TRUE(whole.append(as_bytes("ghi")));
  EXPECT_FALSE(whole.append(as_bytes("j"))) << "the room is used up";
  EXPECT_EQ(text_of(whole), "abcdefghi");
}

}  // namespace
}  // namespace strata::loop
