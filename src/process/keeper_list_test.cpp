#include "process/keeper_list.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace strata::process {
namespace {

namespace fs = std::filesystem;

// A state folder with these files in the folder of the keepers.
fs::path make_state(const std::vector<std::string>& names) {
  std::string path = fs::temp_directory_path() / "strata_keeper_list.XXXXXX";
  EXPECT_NE(::mkdtemp(path.data()), nullptr);
  fs::create_directory(fs::path(path) / keeper_folder);
  for (const auto& each : names) std::ofstream(fs::path(path) / keeper_folder / each) << "x";
  return path;
}

TEST(keeper_list, a_name_has_a_runtime_and_an_instance) {
  const auto state = make_state({"api.3", "a.b.12", "none", "zero.0", "x.1y"});
  auto files = read_keeper_files(state);
  std::ranges::sort(files, {}, &keeper_file::runtime);
  ASSERT_EQ(files.size(), 5U);
  const auto expect = [&](std::size_t index, const std::string& runtime, unsigned instance) {
    EXPECT_EQ(files[index].runtime, runtime);
    EXPECT_EQ(files[index].instance, instance);
  };
  expect(0, "a.b", 12);
  expect(1, "api", 3);
  expect(2, "none", 0);
  expect(3, "x.1y", 0);
  expect(4, "zero.0", 0);
  EXPECT_EQ(files[0].name(), "a.b.12");
  EXPECT_EQ(files[3].name(), "x.1y");
  fs::remove_all(state);
}

TEST(keeper_list, files_without_a_keeper_are_removed_if_they_are_not_wanted) {
  const auto state = make_state({"api.1", "old.1"});
  const auto files = read_keeper_files(state);
  const auto ended =
      end_unwanted(state, files, [](const keeper_file& file) { return file.runtime == "api"; });
  EXPECT_TRUE(ended.empty());
  EXPECT_TRUE(fs::exists(state / keeper_folder / "api.1"));
  EXPECT_FALSE(fs::exists(state / keeper_folder / "old.1"));
  fs::remove_all(state);
}

TEST(keeper_list, no_folder_has_no_keepers) {
  EXPECT_TRUE(read_keeper_files("/no/such/folder").empty());
}

}  // namespace
}  // namespace strata::process
