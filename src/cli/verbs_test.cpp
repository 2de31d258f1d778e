#include "cli/verbs.hpp"

#include <gtest/gtest.h>

#include <set>

#include "cli/help.hpp"

namespace strata::cli {
namespace {

/// All flags that a line of this verb and type may have.
option_rows rows_of(const verb_row& verb, const runtime::type_row* type) {
  option_rows rows(verb.flags);
  const auto common = common_flags_of(verb);
  rows.insert(rows.end(), common.begin(), common.end());
  if (type != nullptr) rows.insert(rows.end(), type->rows().begin(), type->rows().end());
  return rows;
}

void expect_clear(const option_rows& rows) {
  std::set<std::string> flags;
  for (const auto& row : rows) {
    EXPECT_TRUE(flags.insert(options::long_flag(row)).second) << row.key;
    if (row.short_flag == 0) continue;
    EXPECT_TRUE(flags.insert(std::string{'-', row.short_flag}).second) << row.key;
  }
}

TEST(verbs, no_flag_means_two_things) {
  for (const auto& verb : verbs()) {
    SCOPED_TRACE(verb.name);
    expect_clear(rows_of(verb, nullptr));
    if (verb.find_type == nullptr) continue;
    for (const auto& type : runtime::types()) expect_clear(rows_of(verb, &type));
  }
}

TEST(verbs, every_row_is_whole) {
  std::set<std::string_view> names;
  for (const auto& verb : verbs()) {
    EXPECT_TRUE(names.insert(verb.name).second) << verb.name;
    for (const auto& alias : verb.aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
    EXPECT_NE(verb.run, nullptr) << verb.name;
    EXPECT_FALSE(verb.summary.empty()) << verb.name;
    EXPECT_LE(verb.least_words, verb.most_words) << verb.name;
    for (const auto& row : verb.flags) {
      EXPECT_FALSE(row.help.empty()) << verb.name << ' ' << row.key;
      const bool has_value = row.kind != options::option_kind::flag;
      EXPECT_EQ(has_value, !row.value_name.empty()) << verb.name << ' ' << row.key;
      if (row.default_text.empty()) continue;
      EXPECT_TRUE(options::parse_option(row, row.default_text)) << verb.name << ' ' << row.key;
    }
  }
}

TEST(verbs, defaults_of_types_are_values_that_they_take) {
  for (const auto& type : runtime::types()) {
    for (const auto& row : type.rows()) {
      for (const auto text : {row.default_text, row.implicit_text}) {
        if (text.empty()) continue;
        EXPECT_TRUE(options::parse_option(row, text)) << type.name << ' ' << row.key;
      }
    }
  }
}

TEST(verbs, are_found_or_guessed) {
  EXPECT_EQ((*find_verb(verbs(), "ls"))->name, "ls");
  EXPECT_EQ(find_verb(verbs(), "stpo").error().message,
            "there is no verb 'stpo' (did you mean 'stop'?); 'strata --help' shows all");
  EXPECT_EQ(find_verb(verbs(), "").error().exit, exit_misused);
}

TEST(verbs, are_found_by_other_names_too) {
  for (const auto& [alias, name] :
       {std::pair{"list", "ls"}, {"status", "ls"}, {"rm", "remove"}, {"inspect", "show"}}) {
    EXPECT_EQ((*find_verb(verbs(), alias))->name, name);
    const auto page = verb_help(**find_verb(verbs(), name));
    EXPECT_NE(page.find(alias), std::string::npos) << page;
    EXPECT_NE(general_help().find(alias), std::string::npos);
  }
  EXPECT_EQ(find_verb(verbs(), "inspcet").error().message,
            "there is no verb 'inspcet' (did you mean 'inspect'?); 'strata --help' shows all");
  EXPECT_EQ(aliases_of(**find_verb(verbs(), "stop")), "");
}

TEST(help, shows_every_verb_and_every_flag) {
  const auto all = general_help();
  for (const auto& verb : verbs()) {
    EXPECT_NE(all.find("  " + std::string(verb.name)), std::string::npos) << verb.name;
    for (const auto& type : runtime::types()) {
      const auto* taken = verb.find_type == nullptr ? nullptr : &type;
      const auto page = verb_help(verb, taken);
      for (const auto& row : rows_of(verb, taken)) {
        EXPECT_NE(page.find(options::long_flag(row)), std::string::npos) << row.key;
      }
    }
  }
}

TEST(help, usage_names_the_type) {
  const auto* server = runtime::find_type("server");
  ASSERT_NE(server, nullptr);
  EXPECT_EQ(usage_line(**find_verb(verbs(), "create"), server),
            "strata create server NAME [flags]");
  EXPECT_EQ(usage_line(**find_verb(verbs(), "create")), "strata create TYPE NAME [flags]");
  EXPECT_EQ(usage_line(**find_verb(verbs(), "events")), "strata events [flags]");
}

}  // namespace
}  // namespace strata::cli
