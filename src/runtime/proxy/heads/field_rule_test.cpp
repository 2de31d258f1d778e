#include "runtime/proxy/heads/field_rule.hpp"

#include <gtest/gtest.h>

namespace strata::runtime::proxy {
namespace {

using proto::http_fields;

TEST(field_rule, changes_fields_in_their_order) {
  http_fields fields = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
  change(fields, field_rules_of({"set A: x", "add b: y", "remove C", "set d: 4", "remove D"}));
  EXPECT_EQ(fields, (http_fields{{"b", "2"}, {"a", "x"}, {"b", "y"}}));
}

TEST(field_rule, refuses_what_is_none) {
  for (const auto* const text :
       {"", "set", "set A", "set : x", "put A: b", "remove", "remove A B", "remove A:",
        "add A B: c", "set A: b\r\nC: d", "set Content-Length: 5", "add Connection: close",
        "remove transfer-encoding", "set TE: trailers", "set Upgrade: x"}) {
    EXPECT_FALSE(parse_field_rule(text)) << text;
  }
  EXPECT_TRUE(parse_field_rule("set Host: example.com"));
  EXPECT_TRUE(parse_field_rule("set Empty:"));
}

}  // namespace
}  // namespace strata::runtime::proxy
