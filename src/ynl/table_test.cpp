// Tests messages as tables: written values are read again, and values that cannot be written give a
// reason.
#include "ynl/table.hpp"

#include <gtest/gtest.h>

#include <array>

#include "strata/wire/genl.hpp"
#include "ynl/testing/forms.hpp"

namespace strata::ynl {
namespace {

using nlohmann::json;

class ynl_table_test : public testing::Test {
 protected:
  spec spec_ = spec_of(forms);
  scope scope_ = scope::of(&spec_, spec_.find("set-all"));
  std::array<std::byte, 4096> memory_{};

  json again(const json& table) {
    wire::netlink_writer to(memory_);
    wire::begin_genl(to, 99, 0, 1, 1);
    const auto put = put_table(to, table, scope_);
    if (!put) return put.error().reason;
    const auto raw = wire::netlink_message::parse(to.bytes().value());
    return to_table(raw->attributes(wire::genl_message::header_size), scope_);
  }
};

TEST_F(ynl_table_test, what_is_written_is_read_again) {
  const std::string bytes("\0\xff\x0a", 3);
  for (const json& table : {
           json{{"u8", 200}, {"port", 80}, {"s_64", -5}, {"color", "green"}, {"sum", -1}},
           json{{"mode", {"read", "exec"}}, {"colors", {"red"}}, {"blob", bytes}, {"on", true}},
           json{{"bits", {{"value", 5}, {"selector", 7}}}, {"number", {1, 2, 3}}},
           json{{"tree", {{"name", "a"}, {"child", {{"name", "b"}, {"leaf", {1}}}}}}},
           json{{"trees", {{{"name", "a"}}, {{"name", "b"}}}}, {"ports", {80, 443}}},
           json{{"forest", {{{"name", "a"}}, {{"name", "b"}}}}},
           json{{"s_64", "9223372036854775807"}},
       }) {
    EXPECT_EQ(again(table), table);
  }
}

TEST_F(ynl_table_test, other_ways_to_write_the_same) {
  EXPECT_EQ(again({{"s-64", "5"}, {"1", 7}}), (json{{"s_64", 5}, {"u8", 7}}));
  EXPECT_EQ(again({{"color", 7}, {"mode", "read|exec"}}),
            (json{{"color", "green"}, {"mode", {"read", "exec"}}}));
  EXPECT_EQ(again({{"number", 4}, {"on", false}, {"u8", 3.0}}), (json{{"number", {4}}, {"u8", 3}}));
  EXPECT_EQ(again({{"777", "raw"}}), (json{{"777", "raw"}}));
  EXPECT_EQ(again(json::array()), json::object());
}

TEST_F(ynl_table_test, what_cannot_be_written_says_why) {
  const auto said = [this](const json& table) { return again(table).get<std::string>(); };
  EXPECT_EQ(said({{"u8", 256}}), "u8: its value is not of type u8");
  EXPECT_TRUE(said({{"colr", 1}}).starts_with("colr: no attribute has this name (did you mean"));
  EXPECT_TRUE(said({{"color", "pink"}}).contains("not one of red, green, blue"));
  EXPECT_EQ(said({{"on", 1}}), "on: it is a flag: use true or false");
  EXPECT_EQ(said({{"tree", 1}}), "tree: it is a nest: use a table");
  EXPECT_TRUE(said({{"tree", {{"leaf", "x"}}}}).starts_with("leaf: "));
  EXPECT_TRUE(said({{"bits", 1}}).starts_with("bits: it is a bit field"));
  EXPECT_EQ(said("text"), "the attributes: they are not a table");
  json deep = {{"name", "end"}};
  for (int depth = 0; depth < 20; ++depth) deep = {{"child", deep}};
  EXPECT_EQ(said({{"tree", deep}}), "child: it is nested deeper than 8");
}

}  // namespace
}  // namespace strata::ynl
