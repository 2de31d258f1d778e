#include "daemon/state_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace strata::daemon {
namespace {

class state_store_test : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "strata_state." + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static saved_runtime sample(const std::string& name) {
    return {.name = name,
            .type = "server",
            .created_at = "2026-11-21T00:00:00.000Z",
            .running = true,
            .options = R"({"port":9000})"};
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/runtimes/" + name) << text;
  }

  std::string folder_;
  std::vector<std::string> damaged_;
  std::function<void(std::string)> on_damaged_ = [this](const std::string& text) {
    damaged_.push_back(text);
  };
};

TEST_F(state_store_test, gives_back_what_was_saved_and_nobody_else_may_read_it) {
  auto store = state_store::open(folder_);
  ASSERT_TRUE(store) << describe(store.error());
  ASSERT_TRUE(store->save(sample("b")));
  ASSERT_TRUE(store->save(sample("a")));
  const auto loaded = store->load(on_damaged_);
  ASSERT_EQ(loaded.size(), 2U);
  EXPECT_EQ(loaded[0].name, "a");
  EXPECT_TRUE(loaded[0].running);
  EXPECT_EQ(loaded[0].options, R"({"port":9000})");
  struct stat info{};
  ASSERT_EQ(::stat((folder_ + "/runtimes/a.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  ASSERT_TRUE(store->remove("a"));
  EXPECT_EQ(store->load(on_damaged_).size(), 1U);
}

TEST_F(state_store_test, a_second_daemon_is_refused_with_the_first_one_s_process_id) {
  auto first = state_store::open(folder_);
  ASSERT_TRUE(first);
  auto second = state_store::open(folder_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::conflict);
  EXPECT_NE(describe(second.error()).find(std::to_string(::getpid())), std::string::npos);
}

TEST_F(state_store_test, damaged_files_are_set_aside_and_named_and_the_others_load) {
  auto store = state_store::open(folder_);
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->save(sample("good")));
  write("empty.json", "");
  write("cut.json", R"({"version":1,"name":"cut","ty)");
  write("other.json", R"({"version":1,"name":"somebody","type":"server","created_at":"",)"
                      R"("running":true,"options":{}})");
  write("wrong.json", R"({"name":1})");
  const auto loaded = store->load(on_damaged_);
  ASSERT_EQ(loaded.size(), 1U);
  EXPECT_EQ(loaded[0].name, "good");
  EXPECT_EQ(damaged_.size(), 4U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ + "/damaged"), {}), 4);
  EXPECT_EQ(store->load(on_damaged_).size(), 1U);
  EXPECT_EQ(damaged_.size(), 4U) << "they are set aside once";
}

TEST(names, are_letters_digits_underscore_dot_and_dash) {
  for (const auto* good : {"a", "A-b_c.9", ".", "..", "-x"}) EXPECT_TRUE(is_valid_name(good));
  EXPECT_TRUE(is_valid_name(std::string(64, 'x')));
  for (const auto* bad : {"", "a/b", "a b", "\xc3\xa4", "a\n"}) EXPECT_FALSE(is_valid_name(bad));
  EXPECT_FALSE(is_valid_name(std::string(65, 'x')));
}

}  // namespace
}  // namespace strata::daemon
