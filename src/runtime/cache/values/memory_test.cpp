#include "runtime/cache/values/memory.hpp"

#include <gtest/gtest.h>

#include <string>

namespace strata::runtime::cache {
namespace {

TEST(same_bytes, tells_texts_apart_that_differ_in_one_byte) {
  for (std::size_t size = 0; size <= 70; ++size) {
    std::string text(size, 'x');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 26);
    // An own block of the very size, so that a sanitizer sees what reads behind it.
    const std::string copy(text);
    EXPECT_TRUE(same_bytes(text, copy)) << size;
    for (std::size_t i = 0; i < size; ++i) {
      std::string other(text);
      other[i] = static_cast<char>(other[i] ^ 0x80);
      EXPECT_FALSE(same_bytes(text, other)) << size << ", byte " << i;
    }
    EXPECT_FALSE(same_bytes(text, text + "x")) << size;
    EXPECT_FALSE(same_bytes(text + "x", text)) << size;
  }
  EXPECT_TRUE(same_bytes({}, ""));
}

}  // namespace
}  // namespace strata::runtime::cache
