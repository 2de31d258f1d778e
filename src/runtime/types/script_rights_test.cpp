// Each option of each type says what it reaches, which is checked against a script's rights.
#include "runtime/options/script_rights.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "runtime/types/types.hpp"

namespace strata::runtime {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using options::option_kind;
using options::option_reach;
using options::option_row;

class folder_of_a_script : public testing::Test {
 protected:
  folder_of_a_script() {
    fs::create_directories(own_);
    fs::create_directories(elsewhere_);
    std::ofstream(own_ / "script.lua") << "-- nothing\n";
    std::ofstream(elsewhere_ / "secret") << "secret\n";
    fs::create_symlink(elsewhere_ / "secret", own_ / "link");
    fs::create_symlink(elsewhere_ / "not yet", own_ / "dangling");
    fs::create_symlink(elsewhere_, own_ / "way_out");
  }
  ~folder_of_a_script() override { fs::remove_all(root_); }

  [[nodiscard]] script_rights rights(std::vector<std::string> words = {}) const {
    return *script_rights_of(
        script_options{.lua = own("script.lua"), .lua_allow = std::move(words)});
  }
  [[nodiscard]] std::string own(const std::string& name) const { return (own_ / name).string(); }
  [[nodiscard]] std::string other(const std::string& name) const {
    return (elsewhere_ / name).string();
  }

 private:
  static fs::path new_root() {
    auto pattern = (fs::temp_directory_path() / "strata_rights_XXXXXX").string();
    return ::mkdtemp(pattern.data());
  }

  fs::path root_ = new_root();
  fs::path own_ = root_ / "own";
  fs::path elsewhere_ = root_ / "elsewhere";
};

bool is_allowed(const script_rights& rights, const option_row& row, const std::string& value) {
  json options = json::object();
  options[std::string(row.key)] =
      row.kind == option_kind::list ? json::array({value}) : json(value);
  return check_reach(rights, std::span(&row, 1), options).has_value();
}

template <class Check>
void for_each_row(Check check) {
  for (const auto& type : types()) {
    for (const auto& row : type.rows()) {
      SCOPED_TRACE(std::string(type.name) + " " + std::string(row.key));
      check(row);
    }
  }
}

// An option that is a file or an endpoint in the help is one. `http_fallback` is a path below
// --http.
TEST_F(folder_of_a_script, each_row_says_what_it_reaches) {
  std::set<option_reach> seen;
  for_each_row([&seen](const option_row& row) {
    seen.insert(row.reach);
    const auto& name = row.value_name;
    const bool names_path = (name == "FILE" || name == "DIR") && row.key != "http_fallback";
    EXPECT_EQ(names_path, is_path(row));
    const bool names_endpoint =
        name == "URL" || name == "WHERE" || name == "HOST:PORT" || name == "ROUTE";
    EXPECT_EQ(names_endpoint,
              row.reach == option_reach::listening || row.reach == option_reach::connecting);
    const bool is_script_right =
        row.key == "lua_allow" || row.key == "lua_unsafe" || row.key == "lua_jit";
    EXPECT_EQ(is_script_right, row.reach == option_reach::script_right);
  });
  EXPECT_EQ(seen.size(), 7U);
}

TEST_F(folder_of_a_script, programs_are_run_only_with_all_rights) {
  const auto all = rights({"unsafe"});
  const auto most = rights({"net", "runtimes", "write=/"});
  for_each_row([&](const option_row& row) {
    if (row.reach != option_reach::running) return;
    EXPECT_FALSE(is_allowed(most, row, "/bin/true"));
    EXPECT_TRUE(is_allowed(all, row, "/bin/true"));
  });
}

TEST_F(folder_of_a_script, each_path_lies_where_the_script_may_reach) {
  const auto usual = rights();
  const auto writer = rights({"write=" + own("")});
  const auto reader = rights({"read=" + other("")});
  for_each_row([&](const option_row& row) {
    if (!is_path(row)) return;
    const bool is_read = row.reach == option_reach::read_path;
    EXPECT_EQ(is_allowed(usual, row, own("file")), is_read);
    EXPECT_TRUE(is_allowed(writer, row, own("new/file")));
    EXPECT_EQ(is_allowed(reader, row, other("secret")), is_read);
    for (const auto& path :
         {other("secret"), own("link"), own("dangling"), own("way_out/secret"),
          own("../elsewhere/secret"), own("x/../../elsewhere/secret"), std::string("/etc/passwd"),
          own("") + "../../../../etc/passwd", own("") + "/../own_not/file"}) {
      SCOPED_TRACE(path);
      EXPECT_FALSE(is_allowed(usual, row, path));
      EXPECT_FALSE(is_allowed(writer, row, path));
    }
  });
}

TEST_F(folder_of_a_script, each_endpoint_is_one_that_the_script_may_use) {
  const auto usual = rights();
  const auto writer = rights({"net", "write=" + own("")});
  const auto alone = rights({"runtimes"});
  for_each_row([&](const option_row& row) {
    const bool listens = row.reach == option_reach::listening;
    if (!listens && row.reach != option_reach::connecting) return;
    EXPECT_TRUE(is_allowed(usual, row, "tcp://127.0.0.1:9000"));
    EXPECT_EQ(is_allowed(alone, row, "tcp://127.0.0.1:9000"), listens);
    EXPECT_TRUE(is_allowed(alone, row, "web"));
    EXPECT_TRUE(is_allowed(alone, row, "@group weight=2"));
    EXPECT_FALSE(is_allowed(alone, row, "l2://eth0/0x88b5"));
    EXPECT_TRUE(is_allowed(usual, row, "l2://eth0/0x88b5"));
    EXPECT_EQ(is_allowed(usual, row, "unix://" + own("socket")), !listens);
    EXPECT_TRUE(is_allowed(writer, row, "unix://" + own("socket") + "?mode=0660"));
    EXPECT_TRUE(is_allowed(writer, row, "unix://" + own("socket") + " weight=3"));
    for (const auto& value :
         {std::string("unix:///run/strata/strata.sock"), "unix://" + own("../socket"),
          "unix://" + own("a b/../../socket"), "unix://" + own("way_out/socket"),
          std::string("path=/x -> unix:///run/docker.sock"),
          std::string("127.0.0.1:80, unix:///run/docker.sock")}) {
      SCOPED_TRACE(value);
      EXPECT_FALSE(is_allowed(usual, row, value));
      EXPECT_FALSE(is_allowed(writer, row, value));
    }
  });
}

TEST_F(folder_of_a_script, no_credential_of_the_daemon_is_the_scripts) {
  for_each_row([&](const option_row& row) {
    if (row.kind != option_kind::secret) return;
    EXPECT_TRUE(is_allowed(rights(), row, "a password"));
    EXPECT_FALSE(is_allowed(rights(), row, "credential:db"));
    EXPECT_TRUE(is_allowed(rights({"unsafe"}), row, "credential:db"));
  });
}

TEST_F(folder_of_a_script, a_child_has_at_most_its_parents_rights) {
  const auto child = [this](std::vector<std::string> words, bool is_unsafe = false) {
    return json{{"lua", own("child.lua")}, {"lua_allow", words}, {"lua_unsafe", is_unsafe}};
  };
  EXPECT_TRUE(check_child(rights(), child({})));
  EXPECT_TRUE(check_child(rights(), child({"none"})));
  EXPECT_TRUE(check_child(rights({"unsafe"}), child({"unsafe", "write=/etc"})));
  EXPECT_TRUE(check_child(rights({"read=/srv"}), child({"read=/srv/data"})));
  EXPECT_FALSE(check_child(rights({"read=/srv"}), child({"read=/"})));
  EXPECT_FALSE(check_child(rights({"read=/srv"}), child({"write=/srv"})));
  EXPECT_FALSE(check_child(rights(), child({"unsafe"})));
  EXPECT_FALSE(check_child(rights(), child({}, true)));
  EXPECT_FALSE(check_child(rights(), {{"lua", own("child.lua")}, {"lua_jit", true}}));
  EXPECT_FALSE(check_child(rights({"runtimes"}), child({})));
  EXPECT_FALSE(check_child(rights(), {{"lua", other("child.lua")}}));
  EXPECT_EQ(words_of(rights({"runtimes"})), std::vector<std::string>{"runtimes"});
  EXPECT_EQ(words_of(rights({"none"})), std::vector<std::string>{"none"});
}

TEST(script_rights, words_that_are_none_are_named) {
  for (const std::string word : {"nets", "read", "read=here", "write=", "all"}) {
    const auto rights = script_rights_of(script_options{.lua = "/x.lua", .lua_allow = {word}});
    ASSERT_FALSE(rights) << word;
    EXPECT_TRUE(describe(rights.error()).contains("'" + word + "'")) << describe(rights.error());
  }
}

TEST(script_rights, relative_paths_are_meant_in_the_scripts_folder) {
  json options{{"lua", "child.lua"}, {"write", "/abs/olute"}, {"cert", {"a.pem", "/b.pem"}}};
  for (const auto& type : types()) make_paths_absolute(type.rows(), "/own", options);
  EXPECT_EQ(options["lua"], "/own/child.lua");
  EXPECT_EQ(options["write"], "/abs/olute");
  EXPECT_EQ(options["cert"], json({"/own/a.pem", "/b.pem"}));
}

}  // namespace
}  // namespace strata::runtime
