// The flags that are refused lead to flags that exist.
#include "cli/line/foreign_flags.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "cli/line/foreign_verbs.hpp"
#include "cli/verbs.hpp"
#include "options/option_table.hpp"
#include "runtime/types/types.hpp"

namespace strata::cli {
namespace {

bool has_flag(const runtime::type_row& type, const std::string& flag) {
  const auto& create = **find_verb(verbs(), "create");
  const auto is_it = [&](const options::option_row& row) {
    return options::long_flag(row) == flag;
  };
  return std::ranges::any_of(create.flags, is_it) || std::ranges::any_of(type.rows(), is_it);
}

TEST(foreign_flags, lead_to_flags_that_the_type_has) {
  const std::pair<std::string_view, std::string_view> flags[] = {{"proxy", "--strategy"},
                                                                 {"proxy", "--health-check"},
                                                                 {"proxy", "--health-interval"},
                                                                 {"proxy", "--health-path"},
                                                                 {"proxy", "--retry"},
                                                                 {"proxy", "--health-threshold"},
                                                                 {"proxy", "--circuit-timeout"},
                                                                 {"proxy", "--circuit-threshold"},
                                                                 {"proxy", "--retry-all"},
                                                                 {"proxy", "--server"},
                                                                 {"cache", "--maxmemory"},
                                                                 {"cache", "--mode"},
                                                                 {"cache", "--replicate"},
                                                                 {"cache", "--requirepass"},
                                                                 {"cache", "--masterauth"},
                                                                 {"cache", "--appendonly"},
                                                                 {"cache", "--dbfilename"},
                                                                 {"cache", "--maxmemory-policy"},
                                                                 {"server", "--udp"},
                                                                 {"server", "--tls"},
                                                                 {"client", "--udp"},
                                                                 {"client", "--tls"},
                                                                 {"server", "--max-conn"},
                                                                 {"server", "--test"}};
  for (const auto& [type, flag] : flags) {
    const auto here = counterpart_of(flag, type);
    ASSERT_TRUE(here) << flag;
    EXPECT_FALSE(has_flag(*runtime::find_type(type), std::string(flag))) << type << ' ' << flag;
    std::istringstream words{std::string(*here)};
    for (std::string word; words >> word;) {
      if (!word.starts_with("--")) continue;
      word.erase(std::ranges::remove(word, ';').begin(), word.end());
      EXPECT_TRUE(has_flag(*runtime::find_type(type), word)) << type << ' ' << word;
    }
  }
}

TEST(foreign_flags, are_of_their_type) {
  EXPECT_EQ(counterpart_of("--maxmemory", "server"), std::nullopt);
  EXPECT_EQ(counterpart_of("--udp", "client"), "--connect udp://HOST:PORT");
  EXPECT_EQ(counterpart_of("--udp", "server"), "--listen udp://HOST:PORT");
  EXPECT_EQ(counterpart_of("--json", ""), "--format json");
  EXPECT_EQ(counterpart_of("--frobnicate", ""), std::nullopt);
}

TEST(foreign_verbs, lead_to_verbs_that_there_are) {
  for (const std::string_view verb : {"dashboard", "import"}) {
    EXPECT_FALSE(
        std::ranges::any_of(verbs(), [&](const verb_row& row) { return row.name == verb; }));
    ASSERT_TRUE(counterpart_of_verb(verb)) << verb;
    std::istringstream words{std::string(*counterpart_of_verb(verb))};
    for (std::string word; words >> word;) {
      if (word != "`strata") continue;
      words >> word;
      word.erase(std::ranges::remove(word, '`').begin(), word.end());
      word.erase(std::ranges::remove(word, ',').begin(), word.end());
      EXPECT_TRUE(find_verb(verbs(), word)) << word;
    }
  }
  EXPECT_TRUE(counterpart_of_words("attach"));
  EXPECT_EQ(counterpart_of_words("create"), std::nullopt);
  EXPECT_EQ(counterpart_of_verb("frobnicate"), std::nullopt);
}

}  // namespace
}  // namespace strata::cli
