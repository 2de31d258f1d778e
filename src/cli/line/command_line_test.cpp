#include "cli/line/command_line.hpp"

#include <gtest/gtest.h>

namespace strata::cli {
namespace {

using enum options::option_kind;
using nlohmann::json;
using words = std::vector<std::string>;

const option_rows rows = {
    {.key = "port", .short_flag = 'p', .kind = port, .value_name = "PORT"},
    {.key = "listen", .short_flag = 'l', .kind = list},
    {.key = "drain", .kind = flag},
    {.key = "quiet", .short_flag = 'q', .kind = flag},
    {.key = "start", .short_flag = 's', .kind = flag},
    {.key = "max_message", .kind = bytes},
    {.key = "idle_timeout", .kind = seconds},
    {.key = "reconnect", .kind = count, .implicit_text = "0"},
    {.key = "group", .short_flag = 'g', .kind = text},
    {.key = "master_pw", .kind = secret},
    {.key = "mode", .kind = choice, .choices = "in|out"},
};

void expect_line(const words& tokens, const words& expected_words, const char* flags) {
  const auto line = parse_line(tokens, rows);
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->words, expected_words);
  EXPECT_EQ(line->flags, json::parse(flags));
}

std::string refusal_of(const words& tokens) {
  const auto line = parse_line(tokens, rows);
  EXPECT_FALSE(line);
  if (line) return line->flags.dump();
  EXPECT_EQ(line.error().exit, exit_misused);
  return line.error().message;
}

TEST(command_line, types_every_kind) {
  expect_line({"server", "web", "-p", "9000", "--drain", "--max-message", "64K",
               "--idle-timeout=500ms", "--mode", "in", "--listen", "a", "-l", "b"},
              {"server", "web"},
              R"({"port": 9000, "drain": true, "max_message": 65536, "idle_timeout": 0.5,
                  "mode": "in", "listen": ["a", "b"]})");
  expect_line({}, {}, "{}");
}

TEST(command_line, takes_flags_in_every_spelling) {
  expect_line({"-p9000", "-qs"}, {}, R"({"port": 9000, "quiet": true, "start": true})");
  expect_line({"-qp", "1"}, {}, R"({"quiet": true, "port": 1})");
  expect_line({"--drain=false"}, {}, R"({"drain": false})");
  expect_line({"--drain=true", "x"}, {"x"}, R"({"drain": true})");
  expect_line({"a", "-q", "b"}, {"a", "b"}, R"({"quiet": true})");
}

TEST(command_line, takes_any_text_as_a_value) {
  expect_line({"--group", "", "x"}, {"x"}, R"({"group": ""})");
  expect_line({"--group=", "x"}, {"x"}, R"({"group": ""})");
  expect_line({"--group=a=b c"}, {}, R"({"group": "a=b c"})");
  expect_line({"--group", "[a,b]"}, {}, R"({"group": "[a,b]"})");
  expect_line({"--group", "{}"}, {}, R"({"group": "{}"})");
  expect_line({"--master-pw", "-p"}, {}, R"({"master_pw": "-p"})");
  expect_line({"--master-pw", "--"}, {}, R"({"master_pw": "--"})");
  expect_line({"--group", "\"quoted\""}, {}, R"({"group": "\"quoted\""})");
}

TEST(command_line, takes_any_text_as_a_word) {
  expect_line({"s", "[1,2]"}, {"s", "[1,2]"}, "{}");
  expect_line({"s", "{}"}, {"s", "{}"}, "{}");
  expect_line({"s", ""}, {"s", ""}, "{}");
  expect_line({"s", "-"}, {"s", "-"}, "{}");
  expect_line({"s", "-5"}, {"s", "-5"}, "{}");
  expect_line({"s", "a b  c\n"}, {"s", "a b  c\n"}, "{}");
  expect_line({"--", "s", "--group", "-x"}, {"s", "--group", "-x"}, "{}");
  expect_line({"s", "--", "--", "-q"}, {"s", "--", "-q"}, "{}");
  expect_line({"s", "words"}, {"s", "words"}, "{}");
  expect_line({"s", "++", "/x", "%%"}, {"s", "++", "/x", "%%"}, "{}");
}

TEST(command_line, a_value_that_may_be_left_out_takes_no_word) {
  expect_line({"--reconnect", "client", "c"}, {"client", "c"}, R"({"reconnect": 0})");
  expect_line({"--reconnect", "5", "c"}, {"c"}, R"({"reconnect": 5})");
  expect_line({"--reconnect=7"}, {}, R"({"reconnect": 7})");
  expect_line({"--reconnect"}, {}, R"({"reconnect": 0})");
  expect_line({"--reconnect", "-q"}, {}, R"({"reconnect": 0, "quiet": true})");
}

TEST(command_line, refuses_with_flag_value_and_remedy) {
  EXPECT_EQ(refusal_of({"--port", "70000"}),
            "cannot set --port to 70000: it takes a port from 0 to 65535");
  EXPECT_EQ(refusal_of({"-p", "abc"}),
            "cannot set --port to 'abc': it takes a port from 0 to 65535");
  EXPECT_EQ(refusal_of({"--max-message", "5X"}),
            "--max-message: cannot read '5X' as a size: it is not a number with a known unit; "
            "write, say, 4096, 64K or 1MiB");
  EXPECT_EQ(refusal_of({"--mode", "up"}), "cannot set --mode to \"up\": it takes one of in|out");
  EXPECT_EQ(refusal_of({"-p", "1", "--port=2"}), "--port is given 2 times; give it once");
  EXPECT_EQ(refusal_of({"--max-mesage", "1"}),
            "there is no flag '--max-mesage' here (did you mean '--max-message'?)");
  EXPECT_EQ(refusal_of({"--frobnicate=5"}), "there is no flag '--frobnicate' here");
  EXPECT_EQ(refusal_of({"-x"}), "there is no flag '-x' here");
  EXPECT_EQ(refusal_of({"-qx"}), "there is no flag '-x' here");
  EXPECT_EQ(refusal_of({"--port"}), "--port needs a value: --port PORT");
  EXPECT_EQ(refusal_of({"-qp"}), "--port needs a value: --port PORT");
  EXPECT_NE(refusal_of({"--reconnect=x"}).find("--reconnect"), std::string::npos);
  EXPECT_NE(refusal_of({"--drain=maybe"}).find("--drain"), std::string::npos);
}

TEST(command_line, finds_the_first_word) {
  const auto at = [](const words& tokens) { return find_first_word(tokens, rows); };
  EXPECT_EQ(*at({"ls"}), 0U);
  EXPECT_EQ(*at({"-q", "--group", "x", "--port=1", "-p2", "ls", "y"}), 5U);
  EXPECT_EQ(*at({"--", "-q"}), 1U);
  EXPECT_EQ(*at({"-q"}), std::nullopt);
  EXPECT_EQ(*at({"--group"}), std::nullopt);
  EXPECT_EQ(*at({"--"}), std::nullopt);
  EXPECT_EQ(*at({"-"}), 0U);
  EXPECT_EQ(at({"--prot", "ls"}).error().message,
            "there is no flag '--prot' here (did you mean '--port'?)");
}

TEST(command_line, picks_the_flags_of_some_rows) {
  const auto flags = json::parse(R"({"port": 1, "quiet": true})");
  EXPECT_EQ(pick_flags(flags, std::span(rows).first(1)), json::parse(R"({"port": 1})"));
}

}  // namespace
}  // namespace strata::cli
