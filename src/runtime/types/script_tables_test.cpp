#include "runtime/types/script_tables.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace strata::runtime {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// With STRATA_WRITE_LUA=1 the files are written.
void expect_same(const std::string& path, const std::string& text) {
  if (std::getenv("STRATA_WRITE_LUA") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(read(path), text) << "run this test with STRATA_WRITE_LUA=1 to write " << path;
}

TEST(script_tables, the_reference_and_the_annotations_are_what_the_rows_say) {
  expect_same(STRATA_SOURCE_DIR "/docs/lua-reference.md", script_reference());
  expect_same(STRATA_SOURCE_DIR "/packaging/lua/strata.lua", script_annotations());
}

TEST(script_tables, every_row_says_what_it_is) {
  const auto expect_whole = [](const script::function_row& row) {
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_FALSE(row.run != nullptr && row.wait != nullptr) << row.name;
    for (const auto& each : script::parse_parameters(row.parameters)) {
      EXPECT_FALSE(each.name.empty()) << row.name;
    }
  };
  for (const auto& row : common_script_functions()) expect_whole(row);
  for (const auto& table : script_tables()) {
    std::set<std::string_view> names;
    for (const auto rows : {own_script_functions(), table.functions}) {
      for (const auto& row : rows) {
        expect_whole(row);
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
      }
    }
    EXPECT_FALSE(script_callbacks(table.type).empty());
  }
}

}  // namespace
}  // namespace strata::runtime
