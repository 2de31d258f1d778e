// The record files, on a real loop and a real disk.
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
    return std::move(loaded->records);
  }
  /// Puts a record, with the revision that the store has now.
  void put(record_store& store, const record& next) {
    const auto present = await(store.find(next.name));
    ASSERT_TRUE(present) << describe(present.error());
    const auto saved = await(store.put(next, *present ? (*present)->revision : 0));
    ASSERT_TRUE(saved) << describe(saved.error());
  }
  void remove(record_store& store, const std::string& name) {
    const auto present = await(store.find(name));
    ASSERT_TRUE(present && *present) << name;
    const auto gone = await(store.remove(name, (*present)->revision));
    ASSERT_TRUE(gone) << describe(gone.error());
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
  put(**store, sample("b"));
  put(**store, sample("a"));
  const auto loaded = load(**store);
  ASSERT_EQ(loaded.size(), 2U);
  EXPECT_EQ(loaded[0].name, "a");
  EXPECT_TRUE(loaded[0].running);
  EXPECT_EQ(loaded[0].options, R"({"port":9000})");
  struct stat info{};
  ASSERT_EQ(::stat((folder_ + "/runtimes/a.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  remove(**store, "a");
  ASSERT_TRUE(await((*store)->remove("a", 1))) << "it is no error when there is none";
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
  put(**store, sample("good"));
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
  put(**store, sample("a"));
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
  put(**store, sample("a"));
  auto next = sample("a");
  next.running = false;
  put(**store, next);
  const auto loaded = load(**store);
  ASSERT_EQ(loaded.size(), 1U);
  EXPECT_FALSE(loaded[0].running);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/tmp"));
  remove(**store, "a");
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/tmp"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/runtimes"));
}

TEST_F(file_record_store_test, an_error_of_the_disk_reaches_the_one_who_asked) {
  auto store = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(store);
  std::filesystem::create_directories(folder_ + "/tmp/a.json/in_the_way");
  const auto saved = await((*store)->put(sample("a"), 0));
  ASSERT_FALSE(saved);
  EXPECT_NE(describe(saved.error()).find("/tmp/a.json"), std::string::npos);
  EXPECT_TRUE(load(**store).empty());
}

TEST_F(file_record_store_test, what_was_asked_for_is_done_in_order_even_when_the_asker_goes) {
  constexpr int count = 20;
  auto store = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(store);
  const auto put = [](record_store& records, record record,
                      std::uint64_t expected) -> loop::task<> {
    (void)co_await records.put(std::move(record), expected);
    ADD_FAILURE() << "it was destroyed while it waited";
  };
  {
    loop::task_group askers;
    for (int at = 1; at <= count; ++at) {
      auto next = sample("a");
      next.options = R"({"port":)" + std::to_string(at) + "}";
      askers.spawn(put(**store, next, static_cast<std::uint64_t>(at - 1)));
    }
  }
  store->reset();  // waits until everything is on disk
  auto again = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(again) << describe(again.error());
  const auto loaded = load(**again);
  ASSERT_EQ(loaded.size(), 1U);
  EXPECT_EQ(loaded[0].options, R"({"port":)" + std::to_string(count) + "}");
}

TEST_F(file_record_store_test, each_change_has_a_greater_revision_also_after_a_restart) {
  std::uint64_t last = 0;
  {
    auto store = file_record_store::open(*home_, folder_);
    ASSERT_TRUE(store);
    ASSERT_EQ(await((*store)->put(sample("a"), 0)), 1U);
    ASSERT_EQ(await((*store)->put(sample("b"), 0)), 2U);
    ASSERT_EQ(await((*store)->put(sample("a"), 1)), 3U);
    const auto loaded = await((*store)->load([](const std::string& text) { FAIL() << text; }));
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->revision, 3U);
    last = loaded->revision;
  }
  auto again = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(again);
  const auto loaded = load(**again);
  ASSERT_EQ(loaded.size(), 2U);
  EXPECT_EQ(loaded[0].revision, 3U);
  EXPECT_EQ(loaded[1].revision, 2U);
  EXPECT_EQ(await((*again)->put(sample("c"), 0)), last + 1);
}

TEST_F(file_record_store_test, of_two_writers_of_a_revision_one_is_refused) {
  auto store = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(store);
  put(**store, sample("a"));
  auto next = sample("a");
  next.origin = "a script";
  ASSERT_TRUE(await((*store)->put(next, 1)));
  for (const std::uint64_t expected : {0U, 1U, 7U}) {
    const auto refused = await((*store)->put(sample("a"), expected));
    ASSERT_FALSE(refused) << expected;
    EXPECT_EQ(refused.error().code, errc::conflict);
    const auto kept = await((*store)->remove("a", expected));
    ASSERT_FALSE(kept) << expected;
    EXPECT_EQ(kept.error().code, errc::conflict);
  }
  const auto missing = await((*store)->put(sample("b"), 2));
  ASSERT_FALSE(missing);
  EXPECT_NE(describe(missing.error()).find("it has been removed"), std::string::npos);
  const auto loaded = load(**store);
  ASSERT_EQ(loaded.size(), 1U);
  EXPECT_EQ(loaded[0].origin, "a script");
  EXPECT_EQ(loaded[0].revision, 2U);
}

TEST_F(file_record_store_test, files_without_a_revision_or_with_an_absurd_one_get_theirs) {
  auto store = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(store);
  const auto text = [](const std::string& name, const std::string& revision) {
    return R"({"version":1,"name":")" + name + R"(","type":"server","created_at":"",)" + revision +
           R"("running":true,"options":{}})";
  };
  write("none.json", text("none", ""));
  write("huge.json", text("huge", R"("revision":18446744073709551615,)"));
  write("odd.json", text("odd", R"("revision":"7",)"));
  write("seven.json", text("seven", R"("revision":7,)"));
  std::vector<std::uint64_t> revisions;
  for (const auto& each : load(**store)) revisions.push_back(each.revision);
  EXPECT_EQ(revisions, (std::vector<std::uint64_t>{8, 9, 10, 7})) << "huge, none, odd, seven";
  EXPECT_TRUE(damaged_.empty());
}

TEST_F(file_record_store_test, its_watch_ends_when_it_is_closed) {
  auto store = file_record_store::open(*home_, folder_);
  ASSERT_TRUE(store);
  home_->post([&store] { (*store)->close(); });
  const auto changes = await((*store)->watch(5));
  ASSERT_TRUE(changes);
  EXPECT_TRUE(changes->names.empty());
  EXPECT_EQ(changes->revision, 5U);
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
