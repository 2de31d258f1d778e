#include "measure/ends/catalogue.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace strata::measure {
namespace {

TEST(paths_catalogue, every_path_has_a_look_of_its_own) {
  std::set<std::pair<std::string_view, std::string_view>> looks;
  for (const auto& row : catalogue()) {
    EXPECT_NE(row.colour, "") << row.name;
    looks.emplace(row.colour, row.dash);
  }
  EXPECT_EQ(looks.size(), catalogue().size());
}

}  // namespace
}  // namespace strata::measure
