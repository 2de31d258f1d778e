// The records in files, on a real loop and a real disk.
#include "daemon/store/file_record_store.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "loop/backends/backend.hpp"

namespace strata::daemon {
namespace {

class file_record_store_test : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "strata_state." + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
    auto made = loop::make_loop(loop::backend_kind::epoll);
    ASSERT_TRUE(made) << describe(made.error());
    home_ = std::move(*made);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Runs a task on the home loop to its end.
  template <class T>
  T await(loop::task<T> work) {
    std::optional<T> value;
    const auto run = [](loop::loop& loop, loop::task<T> inner,
                        std::optional<T>& into) -> loop::task<> {
      into.emplace(co_await inner);
      EXPECT_EQ(loop::loop::current(), &loop) << "answers come on the loop that asked";
      loop.stop();
    };
    home_->spawn(run(*home_, std::move(work), value));
    home_->run();
    return std::move(*value);
  }
  std::vector<record> load(record_store& store) {
    auto loaded = await(store.load([this](const std::string& text) { damaged_.push_back(text); }));
    EXPECT_TRUE(loaded) << describe(loaded.error());
    return std::move(*loaded);
  }

  static record sample(const std::string& name) {
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
  std::unique_ptr<loop::loop> home_;
};

TEST_F(file_record_store_test, gives_back_what_was_put_and_nobody_else_may_read_it) {
  auto store = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(store) << describe(store.error());
  EXPECT_EQ((*store)->place(), folder_);
  ASSERT_TRUE(await((*store)->put(sample("b"))));
  ASSERT_TRUE(await((*store)->put(sample("a"))));
  const auto loaded = load(**store);
  ASSERT_EQ(loaded.size(), 2U);
  EXPECT_EQ(loaded[0].name, "a");
  EXPECT_TRUE(loaded[0].running);
  EXPECT_EQ(loaded[0].options, R"({"port":9000})");
  struct stat info{};
  ASSERT_EQ(::stat((folder_ + "/runtimes/a.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  ASSERT_TRUE(await((*store)->remove("a")));
  ASSERT_TRUE(await((*store)->remove("a"))) << "it is no error when there is none";
  EXPECT_EQ(load(**store).size(), 1U);
}

TEST_F(file_record_store_test, a_second_daemon_is_refused_with_the_first_one_s_process_id) {
  auto first = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(first);
  auto second = file_record_store::open(*home_, folder_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::conflict);
  EXPECT_NE(describe(second.error()).find(std::to_string(::getpid())), std::string::npos);
}

TEST_F(file_record_store_test, damaged_files_are_set_aside_and_named_and_the_others_load) {
  auto store = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(store);
  ASSERT_TRUE(await((*store)->put(sample("good"))));
  write("empty.json", "");
  write("cut.json", R"({"version":1,"name":"cut","ty)");
  write("other.json", R"({"version":1,"name":"somebody","type":"server","created_at":"",)"
                      R"("running":true,"options":{}})");
  write("wrong.json", R"({"name":1})");
  const auto loaded = load(**store);
  ASSERT_EQ(loaded.size(), 1U);
  EXPECT_EQ(loaded[0].name, "good");
  EXPECT_EQ(damaged_.size(), 4U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ + "/damaged"), {}), 4);
  EXPECT_EQ(load(**store).size(), 1U);
  EXPECT_EQ(damaged_.size(), 4U) << "they are set aside once";
}

TEST_F(file_record_store_test, what_cannot_be_read_for_want_of_descriptors_is_not_set_aside) {
  auto store = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(store);
  ASSERT_TRUE(await((*store)->put(sample("a"))));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto loaded = await((*store)->load([](const std::string& text) { FAIL() << text; }));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, errc::limit_exceeded) << describe(loaded.error());
  EXPECT_EQ(load(**store).size(), 1U);
}

TEST_F(file_record_store_test, what_is_replaced_or_removed_leaves_nothing_behind) {
  auto store = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(store);
  ASSERT_TRUE(await((*store)->put(sample("a"))));
  auto next = sample("a");
  next.running = false;
  ASSERT_TRUE(await((*store)->put(next)));
  const auto loaded = load(**store);
  ASSERT_EQ(loaded.size(), 1U);
  EXPECT_FALSE(loaded[0].running);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/tmp"));
  ASSERT_TRUE(await((*store)->remove("a")));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/tmp"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/runtimes"));
}

TEST_F(file_record_store_test, an_error_of_the_disk_reaches_the_one_who_asked) {
  auto store = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(store);
  std::filesystem::create_directories(folder_ + "/tmp/a.json/in_the_way");
  const auto saved = await((*store)->put(sample("a")));
  ASSERT_FALSE(saved);
  EXPECT_NE(describe(saved.error()).find("/tmp/a.json"), std::string::npos);
  EXPECT_TRUE(load(**store).empty());
}

TEST_F(file_record_store_test, what_was_asked_for_is_done_in_order_even_when_the_asker_goes) {
  constexpr int count = 20;
  auto store = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(store);
  const auto put = [](record_store& records, record record) -> loop::task<> {
    (void)co_await records.put(std::move(record));
    ADD_FAILURE() << "it was destroyed while it waited";
  };
  {
    loop::task_group askers;
    for (int at = 1; at <= count; ++at) {
      auto next = sample("a");
      next.options = R"({"port":)" + std::to_string(at) + "}";
      askers.spawn(put(**store, next));
    }
  }
  store->reset();  // waits until all is on disk
  auto again = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(again) << describe(again.error());
  const auto loaded = load(**again);
  ASSERT_EQ(loaded.size(), 1U);
  EXPECT_EQ(loaded[0].options, R"({"port":)" + std::to_string(count) + "}");
}

TEST(names, are_letters_digits_underscore_and_then_dot_and_dash) {
  for (const auto* good : {"a", "A-b_c.9", "_", "a.", "9-"}) EXPECT_TRUE(is_valid_name(good));
  EXPECT_TRUE(is_valid_name(std::string(64, 'x')));
  for (const auto* bad : {"", "a/b", "a b", "\xc3\xa4", "a\n", ".", "..", ".x", "-x"}) {
    EXPECT_FALSE(is_valid_name(bad)) << bad;
  }
  EXPECT_FALSE(is_valid_name(std::string(65, 'x')));
}

}  // namespace
}  // namespace strata::daemon
