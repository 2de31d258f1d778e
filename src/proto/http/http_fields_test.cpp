#include "proto/http/http_fields.hpp"

#include <gtest/gtest.h>

namespace strata::proto {
namespace {

using elements = std::vector<std::string_view>;

TEST(http_fields, the_first_field_of_a_name_is_found) {
  const http_fields fields = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
  EXPECT_EQ(find_field(fields, "a"), "1");
  EXPECT_EQ(find_field(fields, "c"), std::nullopt);
  EXPECT_EQ(count_of_field(fields, "a"), 2U);
  EXPECT_EQ(count_of_field(fields, "c"), 0U);
}

TEST(http_fields, fields_of_one_name_are_joined_in_their_order) {
  const http_fields fields = {{"via", "1.1 a"}, {"host", "x"}, {"via", ""}, {"via", "1.1 b"}};
  EXPECT_EQ(joined_field(fields, "via"), "1.1 a, , 1.1 b");
  EXPECT_EQ(joined_field(fields, "host"), "x");
  EXPECT_EQ(joined_field(fields, "date"), std::nullopt);
}

TEST(http_fields, a_list_has_the_elements_of_all_its_fields) {
  const http_fields fields = {{"te", " trailers ,\tgzip;q=0.5"}, {"te", ",, ,"}, {"te", "deflate"}};
  EXPECT_EQ(field_elements(fields, "te"), (elements{"trailers", "gzip;q=0.5", "deflate"}));
  EXPECT_EQ(field_elements(fields, "accept"), elements{});
}

TEST(http_fields, a_token_is_an_element_in_any_case_and_no_part_of_one) {
  const http_fields fields = {{"connection", "keep-alive, UPGRADE"}, {"connection", "close"}};
  EXPECT_TRUE(has_token(fields, "connection", "upgrade"));
  EXPECT_TRUE(has_token(fields, "connection", "Close"));
  EXPECT_FALSE(has_token(fields, "connection", "keep"));
  EXPECT_FALSE(has_token(fields, "upgrade", "upgrade"));
}

}  // namespace
}  // namespace strata::proto
