// Specifications: as they are read, as names become bytes, and as bytes become names.
#include "cli/nl_spec.hpp"

#include <gtest/gtest.h>

#include <array>

#include "cli/nl_arguments.hpp"
#include "cli/nl_message.hpp"
#include "cli/nl_spec_reader.hpp"

namespace strata::cli {
namespace {

using nlohmann::json;

constexpr std::string_view forms = R"(
name: forms
protocol: genetlink-legacy
definitions:
  - {name: color, type: enum, value-start: 3, entries: [red, {name: green, value: 7}, blue]}
  - {name: mode, type: flags, entries: [read, write, {name: exec, value: 8}]}
  - {name: most, type: const, value: 1}
attribute-sets:
  - name: some
    subset-of: main
    attributes: [{name: s-64}, {name: tree}]
  - name: main
    attributes:
      - {name: u8, type: u8}
      - {name: port, type: u16, byte-order: big-endian}
      - {name: s-64, type: s64, value: 0x10}
      - {name: color, type: u8, enum: color}
      - {name: mode, type: u32, enum: mode}
      - {name: colors, type: u16, enum: color, enum-as-flags: true}
      - {name: pad, type: pad}
      - {name: blob, type: binary}
      - {name: bits, type: bitfield32}
      - {name: number, type: u32, multi-attr: true}
      - {name: tree, type: nest, nested-attributes: tree}
      - {name: trees, type: indexed-array, sub-type: nest, nested-attributes: tree}
      - {name: ports, type: indexed-array, sub-type: u16, byte-order: big-endian}
      - {name: table, type: nest-type-value, type-value: [row, column], nested-attributes: tree}
      - {name: forest, type: nest, nested-attributes: tree, multi-attr: true}
      - {name: sum, type: sint}
      - {name: on, type: flag}
  - name: tree
    attributes:
      - {name: name, type: string}
      - {name: child, type: nest, nested-attributes: tree}
      - {name: leaf, type: u32, multi-attr: true}
operations:
  enum-model: directional
  list:
    - name: set-all
      attribute-set: main
      do: {request: {value: 5, attributes: [u8]}, reply: {attributes: [u8, tree]}}
    - name: get-some
      attribute-set: some
      do: {request: {}, reply: {value: 9, attributes: [s-64]}}
      dump: {reply: {attributes: [s-64]}}
    - {name: forget, attribute-set: some, do: {request: {}}}
    - {name: some-ntf, notify: get-some, mcgrp: watchers}
    - {name: list-only, attribute-set: some, dump: {reply: {}}}
)";

nl_spec spec_of(std::string_view yaml) {
  auto made = read_spec(yaml, "forms.yaml");
  if (!made) throw std::runtime_error(describe(made.error()));
  return std::move(*made);
}

class nl_spec_test : public testing::Test {
 protected:
  nl_spec spec = spec_of(forms);
  spec_scope scope = spec_scope::of(&spec, spec.find("set-all"));
  std::array<std::byte, 4096> memory{};

  /// The message with what was typed, or why there is none.
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

TEST_F(nl_spec_test, attributes_and_messages_are_numbered) {
  EXPECT_EQ(scope.find("u8")->number, 1);
  EXPECT_EQ(scope.find("port")->number, 2);
  EXPECT_EQ(scope.find("s-64")->number, 16);
  EXPECT_EQ(scope.find("s_64")->number, 16) << "underscores are dashes";
  EXPECT_EQ(scope.find("color")->number, 17);
  EXPECT_EQ(spec_scope::of(&spec, spec.find("get-some")).find("s-64")->number, 16) << "a subset's";
  EXPECT_EQ(spec_scope::of(&spec, spec.find("get-some")).find("u8"), nullptr);
  EXPECT_EQ(spec.find("set_all")->act->request, 5);
  EXPECT_EQ(spec.find("set-all")->act->reply, 1);
  EXPECT_EQ(spec.find("get-some")->act->request, 6);
  EXPECT_EQ(spec.find("get-some")->dump->request, 6);
  EXPECT_EQ(spec.find("get-some")->dump->reply, 9);
  EXPECT_EQ(spec.find("forget")->act->request, 7);
  EXPECT_EQ(spec.find("list-only")->dump->request, 8);
  EXPECT_EQ(spec.find("list-only")->dump->reply, 11);
  EXPECT_EQ(spec.find_event(10), spec.find("some-ntf"));
  EXPECT_EQ(spec.find("some-ntf")->set, spec.find("get-some")->set);
  EXPECT_EQ(spec.find_request(6, true), spec.find("get-some"));
  EXPECT_EQ(spec.find_request(5, true), nullptr) << "it cannot be dumped";
}

TEST_F(nl_spec_test, values_are_written_and_shown_by_name) {
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
  // Numbers, types and what no entry names go on as they are.
  EXPECT_EQ(shown({"17=9"})[0]["value"], 9);
  EXPECT_EQ(shown({"mode=write|0x10"})[0]["value"], (json{"write", 16}));
  EXPECT_EQ(shown({"500:u32=9"})[0],
            (json{{"attribute", 500}, {"hex", "09000000"}, {"number", 9}}));
}

TEST_F(nl_spec_test, nests_are_written_and_shown_by_path) {
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

TEST_F(nl_spec_test, what_cannot_be_says_what_can) {
  EXPECT_NE(refusal("colour=red").find("(did you mean 'color'?); it has u8, port, s-64"),
            std::string::npos);
  EXPECT_NE(refusal("tree.nam=x").find("no attribute of 'tree'"), std::string::npos);
  EXPECT_NE(refusal("color=pink").find("its value is no u8, and none of red, green, blue"),
            std::string::npos);
  EXPECT_NE(refusal("mode=read|fly").find("of read, write, exec"), std::string::npos);
  EXPECT_NE(refusal("u8=256").find("its value is no u8"), std::string::npos);
  EXPECT_NE(refusal("s-64=9223372036854775808").find("its value is no s64"), std::string::npos);
  EXPECT_NE(refusal("trees.oak.name=x").find("goes by number"), std::string::npos);
  EXPECT_NE(refusal("tree=x").find("write PATH.NAME=VALUE"), std::string::npos);
  EXPECT_NE(refusal("pad=1").find("it is padding"), std::string::npos);
  EXPECT_NE(refusal("u8.name=1").find("nothing tells the number of 'name'"), std::string::npos);
  EXPECT_NE(refusal("tree.child.child.child.child.child.child.child.name=x").find("8 deep"),
            std::string::npos);
}

TEST_F(nl_spec_test, values_of_another_form_are_shown_raw) {
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

TEST_F(nl_spec_test, a_set_within_itself_is_followed_to_a_depth) {
  std::vector<std::byte> bytes;
  for (int depth = 0; depth < 5000; ++depth) {
    const auto size = static_cast<std::uint16_t>(bytes.size() + 4);
    const std::array<std::uint16_t, 2> header = {size, static_cast<std::uint16_t>(0x8000 | 2)};
    const auto raw = std::as_bytes(std::span(header));
    bytes.insert(bytes.begin(), raw.begin(), raw.end());
  }
  auto tree = spec_scope{.spec = &spec, .set = &spec.sets[2]};
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

TEST_F(nl_spec_test, a_path_is_told_by_name) {
  EXPECT_EQ(scope.path_text({24, 2, 1}), "tree.child.name");
  EXPECT_EQ(scope.path_text({25, 3, 1}), "trees.3.name");
  EXPECT_EQ(scope.path_text({24, 99}), "tree.99");
  EXPECT_EQ(spec_scope().path_text({1, 2}), "1.2");
}

struct flawed {
  std::string yaml;
  std::string says;
};

class nl_spec_flaws : public testing::TestWithParam<flawed> {};

TEST_P(nl_spec_flaws, are_named) {
  const auto made = read_spec(GetParam().yaml, "x.yaml");
  ASSERT_FALSE(made);
  const auto said = describe(made.error());
  EXPECT_NE(said.find("cannot read the specification 'x.yaml'"), std::string::npos);
  EXPECT_NE(said.find(GetParam().says), std::string::npos) << said;
}

std::string with_set(const std::string& attribute) {
  return "name: x\nattribute-sets:\n  - name: a\n    attributes:\n      - " + attribute +
         "\noperations: {list: []}\n";
}

std::string with_operation(const std::string& operation) {
  return "name: x\noperations:\n  list:\n    - " + operation + "\n";
}

std::string bomb() {
  // 300 sets of 300 attributes each by alias: 90000 in a small file.
  std::string yaml = "name: x\noperations: {list: []}\nall: &all [";
  for (int i = 0; i < 300; ++i) yaml += "{name: a, type: u8},";
  yaml += "]\nattribute-sets:\n";
  for (int i = 0; i < 300; ++i)
    yaml += "  - {name: s" + std::to_string(i) + ", attributes: *all}\n";
  return yaml;
}

std::vector<flawed> all_flawed() {
  return {
      {"", "it is no map"},
      {"[1, 2]", "it is no map"},
      {"name: [", "line 1"},
      {"a: b: c", "line 1"},
      {"\xff\xfe\xfd", ""},
      {std::string(100000, '['), ""},
      {"protocol: genetlink", "it has no 'name'"},
      {"name: [x]", "'name' should be a text"},
      {"name: x\nprotocol: netlink-raw", "its protocol is 'netlink-raw'"},
      {"name: x", "it has no 'operations'"},
      {"name: x\noperations: [1]", "'operations' should be a map"},
      {"name: x\noperations: {list: 5}", "'list' should be a list"},
      {"name: x\ndefinitions: {a: b}", "'definitions' should be a list"},
      {"name: x\ndefinitions: [{type: enum}]", "it has no 'name'"},
      {"name: x\ndefinitions: [{name: f, type: flags, entries: [{name: a, value: 64}]}]",
       "a number from 0 to 63"},
      {with_set("{type: u8}"), "line 5: it has no 'name'"},
      {with_set("{name: a}"), "it has no 'type'"},
      {with_set("{name: a, type: u24}"), "no type is called 'u24'"},
      {with_set("{name: a, type: [u8]}"), "'type' should be a text"},
      {with_set("{name: a, type: u8, value: 99999999999999999999999}"), "a number from 0 to 16383"},
      {with_set("{name: a, type: u8, value: -1}"), "'value' cannot be '-1'"},
      {with_set("{name: a, type: u8, enum: e}"), "there is no enum 'e'"},
      {with_set("{name: a, type: nest}"), "has to have 'nested-attributes'"},
      {with_set("{name: a, type: nest, nested-attributes: b}"), "there is no attribute set 'b'"},
      {with_set("{name: a, type: indexed-array, sub-type: array-nest}"), "cannot be 'array-nest'"},
      {with_set("a"), "a map with the key 'name' should be here"},
      {"name: x\nattribute-sets: [{name: a, subset-of: a}]", "is to stand before it"},
      {"name: x\nattribute-sets: [{name: a, subset-of: b}, {name: b, subset-of: a}]",
       "is to stand before it"},
      {"name: x\nattribute-sets: [{name: a}, {name: b, subset-of: a, attributes: [{name: c}]}]",
       "'c' is not in the set 'a'"},
      {"name: x\nattribute-sets: [{name: a}, {name: a}]", "is there twice"},
      {with_operation("{name: o, value: 256}"), "a number from 0 to 255"},
      {with_operation("{name: o, value: 255}\n    - {name: p}"), "its number is above 255"},
      {with_operation("{name: o, attribute-set: s}"), "there is no attribute set 's'"},
      {with_operation("{name: o, notify: p}"), "'o' notifies of 'p'"},
      {with_operation("{name: o, do: 5}"), "'do' should be a map"},
      {bomb(), "more than 50000"},
  };
}

INSTANTIATE_TEST_SUITE_P(all, nl_spec_flaws, testing::ValuesIn(all_flawed()));

}  // namespace
}  // namespace strata::cli
