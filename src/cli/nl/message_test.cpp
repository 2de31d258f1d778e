// Attributes by a specification: names to bytes, and bytes to names.
#include "cli/nl/message.hpp"

#include <gtest/gtest.h>

#include <array>

#include "cli/nl/flags.hpp"
#include "ynl/testing/forms.hpp"

namespace strata::cli {
namespace {

using nlohmann::json;

class nl_message_test : public testing::Test {
 protected:
  ynl::spec spec = ynl::spec_of(ynl::forms);
  ynl::scope scope = ynl::scope::of(&spec, spec.find("set-all"));
  std::array<std::byte, 4096> memory{};

  /// The message with the typed attributes, or why there is none.
  std::string typed(const std::vector<std::string>& attributes, json& shown) {
    wire::netlink_writer to(memory);
    wire::begin_genl(to, 99, 0, 1, 1);
    const auto done = write_attributes(to, attributes, {.scope = scope});
    if (!done) return done.error().message;
    const auto raw = wire::netlink_message::parse(to.bytes().value());
    shown = attributes_to_json(raw->attributes(wire::genl_message::header_size), scope);
    return {};
  }
  json shown(const std::vector<std::string>& attributes) {
    json made;
    EXPECT_EQ(typed(attributes, made), "");
    return made;
  }
  std::string refusal(const std::string& attribute) {
    json made;
    return typed({attribute}, made);
  }
};

TEST_F(nl_message_test, values_are_written_and_shown_by_name) {
  const auto list = shown({"u8=200", "port=80", "s-64=-5", "color=green", "mode=read|exec",
                           "colors=red", "blob=0aff", "number=1", "number=2", "sum=-1", "on"});
  ASSERT_EQ(list.size(), 11U);
  EXPECT_EQ(
      list[0],
      (json{{"attribute", 1}, {"name", "u8"}, {"hex", "c8"}, {"number", 200}, {"value", 200}}));
  EXPECT_EQ(list[1]["value"], 80);
  EXPECT_EQ(list[1]["hex"], "0050") << "big-endian";
  EXPECT_EQ(list[2]["value"], -5);
  EXPECT_EQ(list[3]["value"], "green");
  EXPECT_EQ(list[3]["number"], 7);
  EXPECT_EQ(list[4]["value"], (json{"read", "exec"}));
  EXPECT_EQ(list[4]["number"], 0x101);
  EXPECT_EQ(list[5]["number"], 8) << "the bit of 3";
  EXPECT_EQ(list[6]["hex"], "0aff");
  EXPECT_FALSE(list[6].contains("value"));
  EXPECT_EQ(list[8]["name"], "number");
  EXPECT_EQ(list[9]["value"], -1);
  EXPECT_EQ(list[10]["value"], true);
  // Numbers, types and unknown names are handled as before.
  EXPECT_EQ(shown({"17=9"})[0]["value"], 9);
  EXPECT_EQ(shown({"mode=write|0x10"})[0]["value"], (json{"write", 16}));
  EXPECT_EQ(shown({"500:u32=9"})[0],
            (json{{"attribute", 500}, {"hex", "09000000"}, {"number", 9}}));
}

TEST_F(nl_message_test, nests_are_written_and_shown_by_path) {
  const auto tree = shown({"tree.name=root", "tree.child.leaf=1", "tree.child.leaf=2"});
  ASSERT_EQ(tree.size(), 1U);
  EXPECT_EQ(tree[0]["attributes"][0]["value"], "root");
  EXPECT_EQ(tree[0]["attributes"][1]["attributes"].size(), 2U) << "leaf may be there many times";
  const auto forest = shown({"forest.child.name=a", "forest.child.name=b"});
  ASSERT_EQ(forest.size(), 2U) << "child may not, forest may";
  EXPECT_EQ(forest[1]["attributes"][0]["attributes"][0]["value"], "b");
  const auto arrays =
      shown({"trees.0.name=oak", "trees.1.name=elm", "ports.0=80", "table.4.5.name=x"});
  ASSERT_EQ(arrays.size(), 3U);
  EXPECT_EQ(arrays[0]["attributes"][1]["attributes"][0]["value"], "elm");
  EXPECT_EQ(arrays[1]["attributes"][0]["value"], 80);
  EXPECT_EQ(arrays[2]["attributes"][0]["attribute"], 4);
  EXPECT_EQ(arrays[2]["attributes"][0]["attributes"][0]["attributes"][0]["name"], "name");
  EXPECT_TRUE(shown({"tree"})[0]["attributes"].empty());
}

TEST_F(nl_message_test, what_cannot_be_says_what_can) {
  EXPECT_NE(refusal("colour=red").find("(did you mean 'color'?); it has u8, port, s-64"),
            std::string::npos);
  EXPECT_NE(refusal("tree.nam=x").find("not an attribute of 'tree'"), std::string::npos);
  EXPECT_NE(
      refusal("color=pink").find("its value is not of type u8, and not one of red, green, blue"),
      std::string::npos);
  EXPECT_NE(refusal("mode=read|fly").find("of read, write, exec"), std::string::npos);
  EXPECT_NE(refusal("u8=256").find("its value is not of type u8"), std::string::npos);
  EXPECT_NE(refusal("s-64=9223372036854775808").find("its value is not of type s64"),
            std::string::npos);
  EXPECT_NE(refusal("trees.oak.name=x").find("write the index of an element"), std::string::npos);
  EXPECT_NE(refusal("tree=x").find("write PATH.NAME=VALUE"), std::string::npos);
  EXPECT_NE(refusal("pad=1").find("it is padding"), std::string::npos);
  EXPECT_NE(refusal("u8.name=1").find("the number of 'name' is unknown"), std::string::npos);
  EXPECT_NE(refusal("tree.child.child.child.child.child.child.child.name=x").find("8 deep"),
            std::string::npos);
}

TEST_F(nl_message_test, values_of_another_form_are_shown_raw) {
  wire::netlink_writer to(memory);
  wire::begin_genl(to, 99, 0, 1, 1);
  const std::array three = {std::byte{1}, std::byte{2}, std::byte{3}};
  to.put(1, three).put(22, three).put_number(20, std::uint64_t{1}).put(24, three);
  const auto raw = wire::netlink_message::parse(to.bytes().value());
  const auto list = attributes_to_json(raw->attributes(4), scope);
  ASSERT_EQ(list.size(), 3U) << "padding is left out";
  EXPECT_EQ(list[0], (json{{"attribute", 1}, {"name", "u8"}, {"hex", "010203"}}));
  EXPECT_EQ(list[1]["hex"], "010203");
  EXPECT_EQ(list[2]["name"], "tree");
  EXPECT_TRUE(list[2]["attributes"].empty());
}

TEST_F(nl_message_test, a_set_within_itself_is_followed_to_a_depth) {
  std::vector<std::byte> bytes;
  for (int depth = 0; depth < 5000; ++depth) {
    const auto size = static_cast<std::uint16_t>(bytes.size() + 4);
    const std::array<std::uint16_t, 2> header = {size, static_cast<std::uint16_t>(0x8000 | 2)};
    const auto raw = std::as_bytes(std::span(header));
    bytes.insert(bytes.begin(), raw.begin(), raw.end());
  }
  auto tree = ynl::scope{.spec = &spec, .set = &spec.sets[2]};
  ASSERT_EQ(tree.set->name, "tree");
  auto list = attributes_to_json(wire::netlink_attributes(bytes), tree);
  int depth = 0;
  for (; list.is_array() && !list.empty(); ++depth) {
    auto within = list[0].contains("attributes") ? list[0]["attributes"] : json();
    list = std::move(within);
  }
  EXPECT_GT(depth, 10);
  EXPECT_LT(depth, 40);
}

}  // namespace
}  // namespace strata::cli
