#include "script/checker.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace strata::script {
namespace {

std::string check(std::string_view text) {
  const known_names known{
      .tables = {{"strata", {"log", "json.encode", "json.null"}}, {"self", {"send", "name"}}},
      .callbacks = {"on_start", "on_message"}};
  std::string all;
  for (const auto& each : check_source(text, "a.lua", known)) {
    all += fmt::format("{}: {}\n", each.line, each.what);
  }
  return all;
}

TEST(checker, what_is_right_is_passed) {
  EXPECT_EQ(check("function on_start() strata.log(self.name) end"), "");
  EXPECT_EQ(check("local e = strata.json.encode; local j = strata.json; x = strata.json.null"), "");
  EXPECT_EQ(check("-- strata.nothing\n--[[ strata.nothing ]] local s = 'strata.nothing'"), "");
  EXPECT_EQ(check("local t = {strata = {}} t.strata.nothing = 1"), "");
  EXPECT_EQ(check("local strata = {} strata.nothing()"), "");
  EXPECT_EQ(check("local t = {} function t:f() return self.nothing end"), "");
  EXPECT_EQ(check("local f = function(self, x) return self.nothing end"), "");
  EXPECT_EQ(check("local function on_other() end local t = {on_x = 1, on_y = 2} t.on_z = 3"), "");
  EXPECT_EQ(check("local s = [==[\nstrata.x ]] ]==]"), "");
}

TEST(checker, mistakes_are_told_with_their_lines) {
  EXPECT_EQ(check("function on_start("), "1: <name> or '...' expected near '<eof>'\n");
  EXPECT_EQ(check("x = 'a' .. strata.nope()"), "1: there is no strata.nope\n");
  EXPECT_EQ(check("f(... , 'a'..self.snd)"), "1: there is no self.snd\n");
  EXPECT_EQ(check("\n\nstrata.lgo('x')"), "3: there is no strata.lgo\n");
  EXPECT_EQ(check("local s = [[\n\n]]\nself.snd(1)"), "4: there is no self.snd\n");
  EXPECT_EQ(check("strata.json.encoed()"), "1: there is no strata.json.encoed\n");
  EXPECT_EQ(check("print(self)\nself.nothing()"), "2: there is no self.nothing\n");
  EXPECT_EQ(check("function on_mesage() end\non_strat = function() end"),
            "1: 'on_mesage' is never called\n2: 'on_strat' is never called\n");
  EXPECT_EQ(check("\x1bLJ"), "0: attempt to load chunk with wrong mode\n");
}

TEST(checker, odd_ends_are_no_trouble) {
  for (const char* const text :
       {"", "strata", "strata.", "self.", "on_", "x = 'a", "--[[", "[=[", "\\"}) {
    (void)check(text);
  }
}

}  // namespace
}  // namespace strata::script
