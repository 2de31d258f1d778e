// Properties of the operation rows of every type.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "runtime/types/types.hpp"

namespace strata::runtime {
namespace {

std::vector<std::string_view> keys_of(std::span<const answer_row> rows) {
  std::vector<std::string_view> keys;
  for (const auto& row : rows) keys.push_back(row.key);
  return keys;
}

TEST(operations, each_name_stands_once_in_a_type) {
  for (const auto& type : types()) {
    std::set<std::string_view> names;
    for (const auto& row : type.operations()) {
      EXPECT_TRUE(names.insert(row.name).second) << type.name << ": " << row.name;
      EXPECT_NE(row.run == nullptr, row.open == nullptr) << type.name << ": " << row.name;
      EXPECT_EQ(row.answer.empty(), row.schema.empty()) << type.name << ": " << row.name;
    }
  }
}

// They share a route, a schema and a verb.
TEST(operations, types_that_share_one_agree_on_what_it_is) {
  for (const auto& [shared, names] : all_operations()) {
    for (const auto name : names) {
      const auto* const row = find_operation(find_type(name)->operations(), shared->name);
      ASSERT_NE(row, nullptr);
      EXPECT_EQ(row->method, shared->method) << name << ": " << row->name;
      EXPECT_EQ(row->body_type, shared->body_type) << name << ": " << row->name;
      EXPECT_EQ(row->schema, shared->schema) << name << ": " << row->name;
      EXPECT_EQ(row->is_list, shared->is_list) << name << ": " << row->name;
      EXPECT_EQ(row->needed, shared->needed) << name << ": " << row->name;
      EXPECT_EQ(keys_of(row->answer), keys_of(shared->answer)) << name << ": " << row->name;
    }
  }
}

// Otherwise a script with few rights could use those of another script.
TEST(operations, what_runs_code_is_for_admins) {
  EXPECT_EQ(find_shared_operation("eval-lua")->row->needed, role::admin);
  EXPECT_EQ(find_shared_operation("exec")->row->needed, role::admin);
}

TEST(operations, a_call_is_held_against_its_row) {
  const auto& send = *find_operation(find_type("server")->operations(), "send");
  EXPECT_TRUE(check_call(send, {.parameters = {{"client", 7}}, .body = "hello"}));
  for (const auto& parameters : {nlohmann::json{{"client", "ann"}}, nlohmann::json{{"client", -1}},
                                 nlohmann::json{{"client", nullptr}}, nlohmann::json{{"to", 7}},
                                 nlohmann::json::array({7}), nlohmann::json("client")}) {
    const auto taken = check_call(send, {.parameters = parameters});
    ASSERT_FALSE(taken) << parameters;
    EXPECT_EQ(taken.error().code, errc::invalid_argument);
  }
  const auto& backends = *find_operation(find_type("proxy")->operations(), "backends");
  EXPECT_FALSE(check_call(backends, {.body = "hello"}));
}

}  // namespace
}  // namespace strata::runtime
