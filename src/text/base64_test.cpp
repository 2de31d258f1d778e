#include "text/base64.hpp"

#include <gtest/gtest.h>

namespace strata::text {
namespace {

TEST(base64, knows_the_examples_of_rfc_4648) {
  const std::pair<std::string_view, std::string_view> examples[] = {{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : examples) {
    EXPECT_EQ(base64_encode(as_bytes(bytes)), text);
    EXPECT_EQ(base64_decode(text), bytes);
  }
}

TEST(base64, every_byte_comes_back) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all += static_cast<char>(byte);
    EXPECT_EQ(base64_decode(base64_encode(as_bytes(all))), all);
  }
}

TEST(base64, refuses_what_is_not_canonical) {
  for (const auto* text : {"Z", "Zg", "Zg=", "Zg===", "====", "Z===", "Zh==", "Zm9=", "Zm9v\n",
                           "Zm=v", "Zm9v====", "Zm 9", "Zm-_", "=Zm9"}) {
    EXPECT_FALSE(base64_decode(text)) << text;
  }
}

}  // namespace
}  // namespace strata::text
