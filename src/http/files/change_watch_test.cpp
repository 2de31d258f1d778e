// Which changes of real files are reported, and how the catalog reacts.
#include "http/files/change_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "http/files/file_catalog.hpp"
#include "net/testing/backend_stage.hpp"

namespace strata::http {
namespace {

class change_watch_test : public net::backend_stage {
 protected:
  void prepare() override {
    std::string pattern = testing::TempDir() + "strata-watch-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(folder_ / "a/b");
    write("a/b/page.css", "first");
    write("a/b/other.css", "other");
    write("top.css", "top");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& path, std::string_view text) const {
    std::ofstream(folder_ / path, std::ios::binary) << text;
  }
  [[nodiscard]] file_root root() const {
    auto opened = file_root::open(folder_, "open the folder", "");
    EXPECT_TRUE(opened);
    return std::move(*opened);
  }
  void rename(const std::string& text, const std::string& destination) const {
    std::filesystem::rename(folder_ / text, folder_ / destination);
  }
  /// Writes other contents of the same length, with the same times: the metadata does not differ.
  void rewrite_unseen(const std::string& path, std::string_view text) const {
    struct stat before{};
    ASSERT_EQ(::stat((folder_ / path).c_str(), &before), 0);
    write(path, text);
    const timespec times[] = {before.st_atim, before.st_mtim};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / path).c_str(), times, 0), 0);
  }

  std::filesystem::path folder_;
};

class change_hearing_test : public change_watch_test {
 protected:
  void prepare() override {
    change_watch_test::prepare();
    watch_ = change_watch::open(*loop_, root_.emplace(root()), 4);
    ASSERT_TRUE(watch_) << "is " << folder_ << " on a file system without inotify?";
    page_ = watch_->follow("a/b/page.css");
    other_ = watch_->follow("a/b/other.css");
    top_ = watch_->follow("top.css");
    ASSERT_TRUE(page_ && other_ && top_);
    run_turns(10);
    ASSERT_TRUE(page_->is_unchanged() && other_->is_unchanged() && top_->is_unchanged());
  }
  void TearDown() override {
    page_.reset();
    other_.reset();
    top_.reset();
    watch_.reset();
    change_watch_test::TearDown();
  }
  /// Expects that only the page has changed.
  void expect_page_heard() {
    EXPECT_TRUE(run_until([&] { return !page_->is_unchanged(); }));
    EXPECT_TRUE(other_->is_unchanged());
    EXPECT_TRUE(top_->is_unchanged());
  }
  /// Expects that everything in the folder has changed, and nothing above it.
  void expect_folder_heard() {
    EXPECT_TRUE(run_until([&] { return !page_->is_unchanged() && !other_->is_unchanged(); }));
    EXPECT_TRUE(top_->is_unchanged());
  }

  std::optional<file_root> root_;
  std::unique_ptr<change_watch> watch_;
  std::unique_ptr<change_watch::followed_file> page_;
  std::unique_ptr<change_watch::followed_file> other_;
  std::unique_ptr<change_watch::followed_file> top_;
};

TEST_P(change_hearing_test, a_write) {
  write("a/b/page.css", "second");
  expect_page_heard();
}

TEST_P(change_hearing_test, another_file_in_its_place) {
  write("new", "second");
  rename("new", "a/b/page.css");
  expect_page_heard();
}

TEST_P(change_hearing_test, its_end) {
  std::filesystem::remove(folder_ / "a/b/page.css");
  expect_page_heard();
}

TEST_P(change_hearing_test, another_mode) {
  ASSERT_EQ(::chmod((folder_ / "a/b/page.css").c_str(), 0), 0);
  expect_page_heard();
}

TEST_P(change_hearing_test, a_compressed_file_beside_it) {
  write("a/b/page.css.br", "compressed");
  expect_page_heard();
  page_ = watch_->follow("a/b/page.css");
  rename("a/b/page.css.br", "a/b/page.css.gz");
  expect_page_heard();
}

TEST_P(change_hearing_test, names_that_are_alike_are_others) {
  for (const auto* const name : {"a/b/page.cs", "a/b/page.csss", "a/b/page.css.zip", "a/b/.br",
                                 "a/b/page", "a/page.css", "page.css"}) {
    write(name, "x");
  }
  std::filesystem::create_directory(folder_ / "a/b/page.css.gz");
  write("a/b/last.css", "x");
  const auto last = watch_->follow("a/b/last.css");
  write("a/b/last.css", "y");
  EXPECT_TRUE(run_until([&] { return !last->is_unchanged(); }));
  EXPECT_TRUE(page_->is_unchanged() && other_->is_unchanged() && top_->is_unchanged());
}

TEST_P(change_hearing_test, its_folder_is_moved) {
  rename("a/b", "c");
  expect_folder_heard();
  EXPECT_FALSE(watch_->follow("a/b/page.css"));
  // It is another folder now, and can be watched again.
  page_ = watch_->follow("c/page.css");
  ASSERT_TRUE(page_);
  write("c/page.css", "second");
  EXPECT_TRUE(run_until([&] { return !page_->is_unchanged(); }));
}

TEST_P(change_hearing_test, a_folder_above_it_is_replaced) {
  std::filesystem::create_directories(folder_ / "new/b");
  write("new/b/page.css", "second");
  rename("a", "old");
  rename("new", "a");
  expect_folder_heard();
  page_ = watch_->follow("a/b/page.css");
  ASSERT_TRUE(page_);
  other_ = watch_->follow("a/b/other.css");
  write("old/b/page.css", "of the old one");
  run_turns(10);
  EXPECT_TRUE(page_->is_unchanged());
  write("a/b/page.css", "third");
  expect_page_heard();
}

TEST_P(change_hearing_test, its_folder_is_removed) {
  std::filesystem::remove_all(folder_ / "a");
  expect_folder_heard();
  std::filesystem::create_directories(folder_ / "a/b");
  write("a/b/page.css", "again");
  page_ = watch_->follow("a/b/page.css");
  ASSERT_TRUE(page_);
  write("a/b/page.css", "and again");
  EXPECT_TRUE(run_until([&] { return !page_->is_unchanged(); }));
}

TEST_P(change_hearing_test, a_folder_may_not_be_entered_any_more) {
  ASSERT_EQ(::chmod((folder_ / "a").c_str(), 0), 0);
  expect_folder_heard();
  ASSERT_EQ(::chmod((folder_ / "a").c_str(), 0755), 0);
}

TEST_P(change_hearing_test, too_much_to_be_told_changes_all) {
  std::size_t most = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> most;
  ASSERT_GT(most, 0U);
  write("one", "");
  write("two", "");
  const auto one = (folder_ / "one").string();
  const auto two = (folder_ / "two").string();
  for (std::size_t i = 0; i <= most / 2; ++i) {  // the kernel would merge two equal events in a row
    ::utimensat(AT_FDCWD, one.c_str(), nullptr, 0);
    ::utimensat(AT_FDCWD, two.c_str(), nullptr, 0);
  }
  write("a/b/page.css", "second");  // the event that is lost
  EXPECT_TRUE(run_until(
      [&] { return !page_->is_unchanged() && !other_->is_unchanged() && !top_->is_unchanged(); }));
  top_ = watch_->follow("top.css");
  ASSERT_TRUE(top_);
  EXPECT_TRUE(top_->is_unchanged());
}

TEST_P(change_hearing_test, a_link_is_not_a_folder) {
  std::filesystem::create_directory_symlink("b", folder_ / "a/link");
  std::filesystem::create_directory_symlink("..", folder_ / "out");
  for (const auto* const file :
       {"a/link/page.css", "out/x", "nothing/x", "top.css/x", "../x", "a/../../x", "/etc/passwd"}) {
    EXPECT_FALSE(watch_->follow(file)) << file;
  }
  EXPECT_FALSE(watch_->follow(std::string(5000, 'a') + "/x"));
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "a/";
  EXPECT_FALSE(watch_->follow(deep + "x"));
  write("a/b/page.css", "second");
  expect_page_heard();
}

TEST_P(change_hearing_test, folders_that_are_needed_no_more_give_way) {
  for (const auto* const name : {"c", "d", "e/f"}) {
    std::filesystem::create_directories(folder_ / name);
  }
  // The root, a and a/b are watched, which leaves room for one more.
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(watch_->follow("c/x"));
    EXPECT_TRUE(watch_->follow("d/x"));
    EXPECT_FALSE(watch_->follow("e/f/x"));
  }
  auto in_c = watch_->follow("c/x");
  ASSERT_TRUE(in_c);
  EXPECT_FALSE(watch_->follow("d/x"));
  page_.reset();
  EXPECT_FALSE(watch_->follow("d/x"));
  other_.reset();
  auto in_d = watch_->follow("d/x");
  ASSERT_TRUE(in_d);
  write("c/x", "");
  write("d/x", "");
  EXPECT_TRUE(run_until([&] { return !in_c->is_unchanged() && !in_d->is_unchanged(); }));
  EXPECT_TRUE(watch_->follow("e/f/x"));
  EXPECT_TRUE(top_->is_unchanged());
}

INSTANTIATE_TEST_SUITE_P(backends, change_hearing_test, testing::Values("io_uring", "epoll"),
                         [](const auto& each) { return each.param; });

class kept_file_test : public change_watch_test {
 protected:
  void prepare() override {
    change_watch_test::prepare();
    auto opened = file_catalog::open(*loop_, {.folder = folder_, .keeps_files = true});
    ASSERT_TRUE(opened) << describe(opened.error());
    catalog_ = std::move(*opened);
    passing_.spawn(pass_time());
  }
  void TearDown() override {
    catalog_.reset();
    change_watch_test::TearDown();
  }
  [[nodiscard]] std::string body(const std::string& path, coding_preference preference = {}) {
    const auto found = catalog_->find({.relative = path}, preference);
    return found.what ? std::string(as_text(found.what->body.bytes()))
                      : std::to_string(found.status);
  }

  std::unique_ptr<file_catalog> catalog_;

 private:
  // Simulated time passes only while something waits for it.
  loop::task<> pass_time() {
    for (;;) co_await loop_->sleep(std::chrono::milliseconds(50));
  }

  loop::task_group passing_;
};

class heard_file_test : public kept_file_test {};

TEST_P(heard_file_test, a_change_that_looking_does_not_show_is_served) {
  EXPECT_EQ(body("a/b/page.css"), "first");
  const auto before = catalog_->find({.relative = "a/b/page.css"}, {}).what;
  EXPECT_EQ(before, catalog_->find({.relative = "a/b/page.css"}, {}).what);
  rewrite_unseen("a/b/page.css", "later");
  EXPECT_TRUE(run_until([&] { return body("a/b/page.css") == "later"; }));
  rewrite_unseen("a/b/page.css", "third");
  EXPECT_TRUE(run_until([&] { return body("a/b/page.css") == "third"; }));
}

TEST_P(heard_file_test, a_compressed_file_that_changes_unseen_is_served) {
  coding_preference wanted;
  wanted.takes_brotli = true;
  EXPECT_EQ(body("top.css", wanted), "top");
  write("top.css.br", "small");
  EXPECT_TRUE(run_until([&] { return body("top.css", wanted) == "small"; }));
  rewrite_unseen("top.css.br", "least");
  EXPECT_TRUE(run_until([&] { return body("top.css", wanted) == "least"; }));
  std::filesystem::remove(folder_ / "top.css.br");
  EXPECT_TRUE(run_until([&] { return body("top.css", wanted) == "top"; }));
}

INSTANTIATE_TEST_SUITE_P(backends, heard_file_test, testing::Values("io_uring", "epoll"),
                         [](const auto& each) { return each.param; });

// Each change is seen, whether it is reported or not.
TEST_P(kept_file_test, every_change_is_served) {
  EXPECT_EQ(body("a/b/page.css"), "first");
  write("new", "replaced");
  rename("new", "a/b/page.css");
  EXPECT_TRUE(run_until([&] { return body("a/b/page.css") == "replaced"; }));
  std::filesystem::remove(folder_ / "a/b/page.css");
  EXPECT_TRUE(run_until([&] { return body("a/b/page.css") == "404"; }));
  EXPECT_EQ(body("a/b/other.css"), "other");
  rename("a", "c");
  EXPECT_TRUE(run_until([&] { return body("a/b/other.css") == "404"; }));
}

TEST_P(kept_file_test, what_a_link_leads_to_is_seen) {
  std::filesystem::create_symlink("a/b/page.css", folder_ / "link.css");
  std::filesystem::create_directory_symlink("a/b", folder_ / "linked");
  EXPECT_EQ(body("link.css"), "first");
  EXPECT_EQ(body("linked/page.css"), "first");
  write("a/b/page.css", "behind the link");
  EXPECT_TRUE(run_until([&] { return body("link.css") == "behind the link"; }));
  EXPECT_TRUE(run_until([&] { return body("linked/page.css") == "behind the link"; }));
}

TEST_P(kept_file_test, a_change_through_another_name_is_seen) {
  std::filesystem::create_hard_link(folder_ / "top.css", folder_ / "a/b/same.css");
  EXPECT_EQ(body("top.css"), "top");
  write("a/b/same.css", "by the other name");
  EXPECT_TRUE(run_until([&] { return body("top.css") == "by the other name"; }));
}

INSTANTIATE_TEST_SUITE_P(backends, kept_file_test,
                         testing::Values("io_uring", "epoll", "simulation"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace strata::http
