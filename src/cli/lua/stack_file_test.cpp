#include "cli/lua/stack_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace strata::cli {
namespace {

TEST(stack_file, each_function_stands_in_the_page_about_scripts) {
  const std::ifstream file(STRATA_SOURCE_DIR "/docs/lua.md");
  std::ostringstream page;
  page << file.rdbuf();
  for (const auto& row : stack_file::functions()) {
    const auto returns = row.returns.empty() ? std::string() : fmt::format("`{}`", row.returns);
    const auto line =
        fmt::format("| `strata.{}({})` | {} | {} |\n", row.name, row.parameters, returns, row.help);
    EXPECT_NE(page.str().find(line), std::string::npos) << "docs/lua.md lacks: " << line;
  }
}

}  // namespace
}  // namespace strata::cli
