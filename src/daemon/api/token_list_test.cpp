#include "daemon/api/token_list.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace strata::daemon {
namespace {

using runtime::role;

std::string token_of(char letter) { return std::string(20, letter); }

std::string error_of(std::string_view text) {
  const auto list = token_list::parse(text, "tokens");
  return list ? std::string("none") : describe(list.error());
}

TEST(token_list, gives_each_token_its_role) {
  const auto list =
      token_list::parse("# who\n\nread " + token_of('a') + "\r\n \t operate \t" + token_of('b') +
                            " \n" + token_of('c') + "\nadmin dddddddddddddddd",
                        "tokens");
  ASSERT_TRUE(list) << describe(list.error());
  EXPECT_EQ(list->size(), 4U);
  EXPECT_EQ(list->find(token_of('a')), role::read);
  EXPECT_EQ(list->find(token_of('b')), role::operate);
  EXPECT_EQ(list->find(token_of('c')), role::admin);
  EXPECT_EQ(list->find("dddddddddddddddd"), role::admin);
}

TEST(token_list, finds_whole_tokens_alone) {
  const auto list = token_list::parse("read " + token_of('a') + "\n", "tokens");
  ASSERT_TRUE(list);
  for (const auto& guess :
       {std::string(), token_of('b'), token_of('a') + "a", token_of('a') + token_of('a'),
        token_of('a').substr(1), "read " + token_of('a'), " " + token_of('a'), std::string("read"),
        std::string(100'000, 'a')}) {
    EXPECT_FALSE(list->find(guess)) << guess.size();
  }
  EXPECT_FALSE(token_list().find(""));
  EXPECT_TRUE(token_list().empty());
}

TEST(token_list, a_token_that_is_listed_twice_has_one_role) {
  const auto same = token_list::parse(token_of('a') + "\nadmin " + token_of('a') + "\n", "tokens");
  ASSERT_TRUE(same);
  EXPECT_EQ(same->size(), 1U);
  EXPECT_EQ(error_of("read " + token_of('a') + "\n\n" + token_of('a')),
            "cannot read the tokens in 'tokens': lines 1 and 3 give one token the roles 'read' and "
            "'admin'; remove one of them");
}

TEST(token_list, says_what_is_wrong_and_in_which_line) {
  const std::string about = "cannot read the tokens in 'tokens': ";
  for (const auto* const nothing : {"", "\n\n",
                                    "# "
                                    "aaaaaaaaaaaaaaaaaaaa",
                                    " \t\r\n"}) {
    EXPECT_TRUE(error_of(nothing).starts_with(about + "it has no token; ")) << nothing;
  }
  const auto has = [&](const std::string& text, const std::string& reason) {
    EXPECT_TRUE(error_of(text).starts_with(about + reason)) << text << ": " << error_of(text);
  };
  has("short", "the token in line 1 has 5 characters and could be guessed; ");
  has("\nread 123456789012345", "the token in line 2 has 15 characters and could be guessed; ");
  has("read", "line 1 has the role 'read', but no token; ");
  has("root " + token_of('a'), "the first word of line 1 is not a role; ");
  has("Read " + token_of('a'), "the first word of line 1 is not a role; ");
  has(token_of('a') + " read", "the first word of line 1 is not a role; ");
  has("read " + token_of('a') + " " + token_of('b'), "line 1 has more than two words; ");
  has("read \xEF\xBB\xBF" + token_of('a'),
      "the token in line 1 has characters that are not printable");
  has(token_of('a') + std::string(1, '\0'),
      "the token in line 1 has characters that are not printable");
  has(std::string(1025, 'a'), "the token in line 1 is longer than 1024 characters; ");
}

TEST(token_list, shows_no_part_of_a_line) {
  for (const auto& text :
       {"root " + token_of('a'), token_of('a') + " " + token_of('b'),
        token_of('a') + " read " + token_of('b'), "read " + token_of('a') + "\x01",
        "read " + token_of('a') + "\nadmin " + token_of('a'), std::string("read secretsecret")}) {
    const auto error = error_of(text);
    EXPECT_NE(error, "none") << text;
    for (const auto* const part : {"aaaa", "bbbb", "root", "secret"}) {
      EXPECT_EQ(error.find(part), std::string::npos) << error;
    }
  }
}

TEST(token_list, holds_a_thousand_tokens) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += fmt::format("read token-number-{:08}\n", i);
  const auto list = token_list::parse(text, "tokens");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->find("token-number-00000999"), role::read);
  EXPECT_TRUE(error_of(text + token_of('a')).contains("it has more than 1000 tokens"));
  EXPECT_EQ(error_of(text + "read token-number-00000999"), "none");
}

class token_file : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& text, mode_t mode = 0600) {
    const auto path = folder_ + "/tokens";
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  static std::string error_of(const std::string& path) {
    const auto list = token_list::read(path);
    return list ? std::string("none") : describe(list.error());
  }

  std::string folder_ = testing::TempDir() + "strata-tokens-" + std::to_string(::getpid());
};

TEST_F(token_file, is_read_to_its_end) {
  const auto list = token_list::read(write("read " + token_of('a') + "\n" + token_of('b')));
  ASSERT_TRUE(list) << describe(list.error());
  EXPECT_EQ(list->size(), 2U);
}

TEST_F(token_file, that_others_may_read_is_refused) {
  for (const mode_t mode : {0640U, 0604U, 0610U, 0602U}) {
    EXPECT_TRUE(
        error_of(write(token_of('a'), mode)).contains("other users may read it; chmod 600 "));
  }
}

TEST_F(token_file, that_is_too_large_or_no_file_is_refused) {
  EXPECT_TRUE(error_of(write(std::string((1U << 20U) + 1, '\n'))).contains("1048576 bytes"));
  EXPECT_TRUE(error_of(write(std::string(1U << 20U, '\n'))).contains("it has no token"));
  EXPECT_NE(error_of(folder_), "none");
  EXPECT_NE(error_of(folder_ + "/none"), "none");
  const auto pipe = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(error_of(pipe), "none");
  EXPECT_NE(error_of("/dev/zero"), "none");
}

}  // namespace
}  // namespace strata::daemon
