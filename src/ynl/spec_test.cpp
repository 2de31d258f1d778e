// Tests the reading of specifications.
#include "ynl/spec.hpp"

#include <gtest/gtest.h>

#include "ynl/reader.hpp"
#include "ynl/testing/forms.hpp"

namespace strata::ynl {
namespace {

class ynl_spec_test : public testing::Test {
 protected:
  spec forms_spec = spec_of(forms);
  scope top = scope::of(&forms_spec, forms_spec.find("set-all"));
};

TEST_F(ynl_spec_test, attributes_and_messages_are_numbered) {
  EXPECT_EQ(top.find("u8")->number, 1);
  EXPECT_EQ(top.find("port")->number, 2);
  EXPECT_EQ(top.find("s-64")->number, 16);
  EXPECT_EQ(top.find("s_64")->number, 16) << "underscores are dashes";
  EXPECT_EQ(top.find("color")->number, 17);
  EXPECT_EQ(scope::of(&forms_spec, forms_spec.find("get-some")).find("s-64")->number, 16)
      << "a subset's";
  EXPECT_EQ(scope::of(&forms_spec, forms_spec.find("get-some")).find("u8"), nullptr);
  EXPECT_EQ(forms_spec.find("set_all")->act->request, 5);
  EXPECT_EQ(forms_spec.find("set-all")->act->reply, 1);
  EXPECT_EQ(forms_spec.find("get-some")->act->request, 6);
  EXPECT_EQ(forms_spec.find("get-some")->dump->request, 6);
  EXPECT_EQ(forms_spec.find("get-some")->dump->reply, 9);
  EXPECT_EQ(forms_spec.find("forget")->act->request, 7);
  EXPECT_EQ(forms_spec.find("list-only")->dump->request, 8);
  EXPECT_EQ(forms_spec.find("list-only")->dump->reply, 11);
  EXPECT_EQ(forms_spec.find_event(10), forms_spec.find("some-ntf"));
  EXPECT_EQ(forms_spec.find("some-ntf")->set, forms_spec.find("get-some")->set);
  EXPECT_EQ(forms_spec.find_request(6, true), forms_spec.find("get-some"));
  EXPECT_EQ(forms_spec.find_request(5, true), nullptr) << "it cannot be dumped";
}

TEST_F(ynl_spec_test, a_path_is_told_by_name) {
  EXPECT_EQ(top.path_text({24, 2, 1}), "tree.child.name");
  EXPECT_EQ(top.path_text({25, 3, 1}), "trees.3.name");
  EXPECT_EQ(top.path_text({24, 99}), "tree.99");
  EXPECT_EQ(scope().path_text({1, 2}), "1.2");
}

struct flawed {
  std::string yaml;
  std::string says;
};

class ynl_spec_flaws : public testing::TestWithParam<flawed> {};

TEST_P(ynl_spec_flaws, are_named) {
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
      {"", "it is not a map"},
      {"[1, 2]", "it is not a map"},
      {"name: [", "line 1"},
      {"a: b: c", "line 1"},
      {"\xff\xfe\xfd", ""},
      {std::string(100000, '['), ""},
      {"protocol: genetlink", "'name' is missing"},
      {"name: [x]", "'name' must be a string"},
      {"name: x\nprotocol: netlink-raw", "its protocol is 'netlink-raw'"},
      {"name: x", "'operations' is missing"},
      {"name: x\noperations: [1]", "'operations' must be a map"},
      {"name: x\noperations: {list: 5}", "'list' must be a list"},
      {"name: x\ndefinitions: {a: b}", "'definitions' must be a list"},
      {"name: x\ndefinitions: [{type: enum}]", "'name' is missing"},
      {"name: x\ndefinitions: [{name: f, type: flags, entries: [{name: a, value: 64}]}]",
       "a number from 0 to 63"},
      {with_set("{type: u8}"), "line 5: 'name' is missing"},
      {with_set("{name: a}"), "'type' is missing"},
      {with_set("{name: a, type: u24}"), "unknown type 'u24'"},
      {with_set("{name: a, type: [u8]}"), "'type' must be a string"},
      {with_set("{name: a, type: u8, value: 99999999999999999999999}"), "a number from 0 to 16383"},
      {with_set("{name: a, type: u8, value: -1}"), "'value' cannot be '-1'"},
      {with_set("{name: a, type: u8, enum: e}"), "unknown enum 'e'"},
      {with_set("{name: a, type: nest}"), "must have 'nested-attributes'"},
      {with_set("{name: a, type: nest, nested-attributes: b}"), "unknown attribute set 'b'"},
      {with_set("{name: a, type: indexed-array, sub-type: array-nest}"), "cannot be 'array-nest'"},
      {with_set("a"), "expected a map with the key 'name'"},
      {"name: x\nattribute-sets: [{name: a, subset-of: a}]", "must be defined before it"},
      {"name: x\nattribute-sets: [{name: a, subset-of: b}, {name: b, subset-of: a}]",
       "must be defined before it"},
      {"name: x\nattribute-sets: [{name: a}, {name: b, subset-of: a, attributes: [{name: c}]}]",
       "'c' is not in the set 'a'"},
      {"name: x\nattribute-sets: [{name: a}, {name: a}]", "duplicate attribute set 'a'"},
      {with_operation("{name: o, value: 256}"), "a number from 0 to 255"},
      {with_operation("{name: o, value: 255}\n    - {name: p}"), "its number is above 255"},
      {with_operation("{name: o, attribute-set: s}"), "unknown attribute set 's'"},
      {with_operation("{name: o, notify: p}"), "'o' notifies of 'p'"},
      {with_operation("{name: o, do: 5}"), "'do' must be a map"},
      {bomb(), "more than 50000"},
  };
}

INSTANTIATE_TEST_SUITE_P(all, ynl_spec_flaws, testing::ValuesIn(all_flawed()));

}  // namespace
}  // namespace strata::ynl
