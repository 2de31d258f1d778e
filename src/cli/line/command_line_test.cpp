#include "cli/line/command_line.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace strata::cli {
namespace {

using enum options::option_kind;
using nlohmann::json;
using words = std::vector<std::string>;

const option_rows rows = {
    {.key = "port", .short_flag = 'p', .kind = port, .value_name = "PORT"},
    {.key = "listen", .short_flag = 'l', .kind = list},
    {.key = "backend", .kind = list, .separators = ",;"},
    {.key = "drain", .kind = flag},
    {.key = "quiet", .short_flag = 'q', .kind = flag},
    {.key = "start", .short_flag = 's', .kind = flag},
    {.key = "max_message", .kind = bytes},
    {.key = "idle_timeout", .kind = seconds},
    {.key = "reconnect", .kind = count, .implicit_text = "0"},
    {.key = "group", .short_flag = 'g', .kind = text},
    {.key = "master_pw", .kind = secret},
    {.key = "mode", .kind = choice, .choices = "in|out"},
    {.key = "socket", .kind = text},
    {.key = "timeout", .kind = seconds},
    {.key = "help", .short_flag = 'h', .kind = flag},
};

const option_rows server_rows = {{.key = "threads", .short_flag = 't', .kind = count},
                                 {.key = "write", .short_flag = 'w', .kind = text}};
constexpr options::flag_set::flag_value of_busy[] = {{.key = "threads", .text = "8"},
                                                     {.key = "write", .text = "log"}};
constexpr options::flag_set server_sets[] = {
    {.row = {.key = "busy", .kind = flag}, .members = of_busy}};
const runtime::type_row server_type = {
    .name = "server",
    .summary = {},
    .rows = []() -> const option_rows& { return server_rows; },
    .make = nullptr,
    .flag_sets = []() -> std::span<const options::flag_set> { return server_sets; }};
daemon_address asked;  ///< the last argument of the type_finder

outcome<const runtime::type_row*> find_server(const std::string& type,
                                              const daemon_address& daemon) {
  asked = daemon;
  if (type == "server") return &server_type;
  return refuse(exit_not_found, "no type " + type);
}

const std::vector<verb_row> verbs = {
    {.name = "do", .synopsis = "WORD...", .most_words = any_number},
    {.name = "create",
     .synopsis = "TYPE NAME",
     .most_words = 2,
     .flags = {{.key = "reset", .short_flag = 'r', .kind = flag}},
     .find_type = find_server},
    {.name = "stop", .synopsis = "NAME", .flags = {{.key = "timeout", .kind = count}}},
    {.name = "l2 send", .synopsis = "IFACE", .flags = {{.key = "hex", .kind = flag}}},
    {.name = "run", .synopsis = "NAME COMMAND", .most_words = any_number, .first_of_command = 1},
};

outcome<parsed_line> parse(const words& tokens) {
  return parse_line(tokens, {.verbs = verbs, .flags = rows, .usual_daemon = {.socket = "/usual"}});
}

words with_verb(words tokens) {
  tokens.insert(tokens.begin(), "do");
  return tokens;
}

/// Parses `tokens` behind a verb that takes any words.
void expect_line(const words& tokens, const words& expected_words, const char* flags) {
  const auto line = parse(with_verb(tokens));
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->words, expected_words);
  EXPECT_EQ(line->flags, json::parse(flags));
}

std::string refusal_of_line(const words& tokens, exit_code exit = exit_misused) {
  const auto line = parse(tokens);
  EXPECT_FALSE(line);
  if (line) return line->flags.dump();
  EXPECT_EQ(line.error().exit, exit);
  return line.error().message;
}

std::string refusal_of(const words& tokens) { return refusal_of_line(with_verb(tokens)); }

/// The subject of the help: the verb as far as it is named, and its type.
std::string help_of(const words& tokens) {
  const auto line = parse(tokens);
  if (!line) return line.error().message;
  EXPECT_TRUE(line->wants_help);
  return line->named + (line->type == nullptr ? "" : '/' + std::string(line->type->name));
}

TEST(command_line, separators_make_several_elements) {
  expect_line({"--backend", "a:1,b:2 weight=2;@g", "--backend", "c"}, {},
              R"({"backend": ["a:1", "b:2 weight=2", "@g", "c"]})");
  expect_line({"--backend", "unix:///tmp/a,b"}, {}, R"({"backend": ["unix:///tmp/a,b"]})");
  expect_line({"--backend", "a,,b"}, {}, R"({"backend": ["a", "", "b"]})");
  expect_line({"-l", "tcp://[::1]:1,x"}, {}, R"({"listen": ["tcp://[::1]:1,x"]})");
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
            "'strata do' has no flag '--max-mesage' (did you mean '--max-message'?); see 'strata "
            "do --help'");
  EXPECT_EQ(refusal_of({"--frobnicate=5"}),
            "'strata do' has no flag '--frobnicate'; see 'strata do --help'");
  EXPECT_EQ(refusal_of({"-x"}), "'strata do' has no flag '-x'; see 'strata do --help'");
  EXPECT_EQ(refusal_of({"-qx"}), "'strata do' has no flag '-x'; see 'strata do --help'");
  EXPECT_EQ(refusal_of({"--port"}), "--port needs a value: --port PORT");
  EXPECT_EQ(refusal_of({"-qp"}), "--port needs a value: --port PORT");
  EXPECT_NE(refusal_of({"--reconnect=x"}).find("--reconnect"), std::string::npos);
  EXPECT_NE(refusal_of({"--drain=maybe"}).find("--drain"), std::string::npos);
}

TEST(command_line, a_verb_is_one_word_or_two_with_flags_between) {
  for (const auto& tokens :
       {words{"l2", "send", "lo", "--hex"}, {"-q", "l2", "--group", "x", "send", "--hex", "lo"}}) {
    const auto line = parse(tokens);
    ASSERT_TRUE(line) << line.error().message;
    EXPECT_EQ(line->verb, &verbs[3]);
    EXPECT_EQ(line->words, words{"lo"});
    EXPECT_TRUE(line->flags["hex"]);
  }
  for (const auto& early : {words{"--hex", "l2", "send"}, {"l2", "--hex", "send"}}) {
    EXPECT_TRUE(refusal_of_line(early).contains("has no flag '--hex'; see 'strata"));
  }
  EXPECT_EQ(refusal_of_line({}),
            "the verb is missing; write strata VERB; 'strata --help' lists the verbs");
  EXPECT_EQ(refusal_of_line({"--"}), refusal_of_line({}));
  EXPECT_EQ(refusal_of_line({"l2"}), "'l2' needs one more word; 'strata l2 --help' shows which");
  EXPECT_EQ(refusal_of_line({"l2", "sned"}),
            "there is no verb 'l2 sned' (did you mean 'l2 send'?); 'strata --help' shows all");
  EXPECT_EQ(refusal_of_line({""}), "there is no verb ''; 'strata --help' shows all");
  EXPECT_EQ(refusal_of_line({"--prot", "ls"}),
            "'strata' has no flag '--prot' (did you mean '--port'?); see 'strata --help'");
  EXPECT_EQ(refusal_of_line({"--port"}), "--port needs a value: --port PORT");
  EXPECT_EQ(parse({"--", "do", "-q"})->words, words{"-q"});
}

TEST(command_line, a_types_flags_stand_behind_it) {
  const auto line = parse({"create", "-r", "server", "-t4", "web", "--write=x"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->type, &server_type);
  EXPECT_EQ(line->words, (words{"server", "web"}));
  EXPECT_EQ(line->flags, json::parse(R"({"reset": true, "threads": 4, "write": "x"})"));
  EXPECT_EQ(parse({"create", "server"})->type, &server_type);
  EXPECT_EQ(refusal_of_line({"create", "-t", "4", "server", "web"}),
            "'strata create' has no flag '-t'; see 'strata create --help'; write the "
            "flags of a type after TYPE: strata create TYPE NAME [flags]");
  EXPECT_EQ(refusal_of_line({"create", "server", "--thread", "4"}),
            "'strata create server' has no flag '--thread' (did you mean '--threads'?); see "
            "'strata create server --help'");
  EXPECT_EQ(refusal_of_line({"create", "sever", "--threads", "4"}, exit_not_found),
            "no type sever");
  EXPECT_EQ(refusal_of_line({"create", "sever"}, exit_not_found), "no type sever");
  EXPECT_EQ(parse({"create"})->type, nullptr);
}

TEST(command_line, a_set_of_flags_stands_for_those_that_the_line_does_not_have) {
  EXPECT_EQ(parse({"create", "server", "--busy", "web"})->flags,
            json::parse(R"({"threads": 8, "write": "log"})"));
  for (const auto& tokens : {words{"create", "server", "-t", "2", "--busy"},
                             {"create", "server", "--busy", "-t", "2"}}) {
    EXPECT_EQ(parse(tokens)->flags, json::parse(R"({"threads": 2, "write": "log"})"));
  }
  EXPECT_EQ(refusal_of_line({"create", "server", "--busi"}),
            "'strata create server' has no flag '--busi' (did you mean '--busy'?); see "
            "'strata create server --help'");
  EXPECT_EQ(refusal_of_line({"create", "server", "--busy", "--busy"}),
            "--busy is given 2 times; give it once");
}

TEST(command_line, the_daemon_is_asked_where_the_line_says_that_it_listens) {
  for (const auto& tokens : {words{"create", "server"},
                             {"create", "server", "-t", "4", "--", "--socket", "/no"},
                             {"create", "server", "-t", "4", "--socket"}}) {
    asked = {};
    (void)parse(tokens);
    EXPECT_EQ(asked.socket, "/usual");
  }
  for (const auto& tokens : {words{"--socket", "/s", "create", "server", "-t", "4"},
                             {"create", "server", "-t", "4", "--socket", "/s"},
                             {"create", "server", "-t", "4", "--socket=/s"},
                             {"create", "server", "--socket", "/s"}}) {
    asked = {};
    EXPECT_TRUE(parse(tokens));
    EXPECT_EQ(asked.socket, "/s");
  }
}

TEST(command_line, the_daemon_is_waited_for_as_long_as_the_line_says) {
  using namespace std::chrono_literals;
  for (const auto& tokens : {words{"--timeout", "500ms", "create", "server", "-t", "4"},
                             {"create", "server", "-t", "4", "--timeout", "0.5"},
                             {"create", "server", "-t", "4", "--timeout=500ms"}}) {
    asked = {};
    EXPECT_TRUE(parse(tokens));
    EXPECT_EQ(asked.timeout, 500ms);
  }
  (void)parse({"create", "server", "-t", "4"});
  EXPECT_EQ(asked.timeout, 30s);
  EXPECT_EQ(timeout_of(0), 0ms);
  EXPECT_EQ(timeout_of(0.0001), 1ms);
  EXPECT_EQ(timeout_of(1e300), 366 * 24h);
}

TEST(command_line, a_verbs_own_flag_takes_the_place_of_one_of_all_verbs) {
  EXPECT_EQ(parse({"stop", "--timeout", "5"})->flags["timeout"], 5U);
  EXPECT_EQ(refusal_of_line({"--timeout", "5", "stop"}),
            "'stop' has its own flag --timeout; write it after 'stop'");
}

TEST(command_line, a_runtime_stands_for_the_verb_that_talks_to_it) {
  static int questions = 0;
  const auto parse_short = [](const words& tokens) {
    questions = 0;
    return parse_line(tokens, {.verbs = verbs,
                               .flags = rows,
                               .usual_daemon = {},
                               .is_runtime =
                                   [](const std::string& name, const daemon_address&) {
                                     ++questions;
                                     return name == "db" || name == "stop" || name == "l2";
                                   },
                               .verb_of_runtimes = "do"});
  };
  const auto line = parse_short({"-q", "db", "GET", "k"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->verb, verbs.data());
  EXPECT_EQ(line->words, (words{"db", "GET", "k"}));
  EXPECT_TRUE(line->is_shortened);
  EXPECT_EQ(parse_short({"d", "GET"}).error().message,
            "there is no verb 'd' (did you mean 'do'?); 'strata --help' shows all");
  EXPECT_EQ(questions, 1);
  EXPECT_EQ(parse_short({"stop", "x"})->verb, &verbs[2]);
  EXPECT_FALSE(parse_short({"l2", "db"}));
  EXPECT_FALSE(parse_short({"stpo\xff"}));
  EXPECT_FALSE(parse_short({""}));
  EXPECT_FALSE(parse_short({"do", "db"})->is_shortened);
  EXPECT_EQ(questions, 0);
}

TEST(command_line, help_is_given_of_what_is_named) {
  EXPECT_EQ(help_of({"-h"}), "");
  EXPECT_EQ(help_of({"--help", "l2"}), "l2");
  EXPECT_EQ(help_of({"-h", "l2", "send"}), "l2 send");
  EXPECT_EQ(help_of({"do", "-qh"}), "do");
  EXPECT_EQ(help_of({"do", "--help=true"}), "do");
  EXPECT_EQ(help_of({"create", "-h"}), "create");
  EXPECT_EQ(help_of({"create", "server", "-h"}), "create/server");
  EXPECT_EQ(help_of({"create", "sever", "-h"}), "create");
  // Even if something is wrong or a value is missing.
  EXPECT_EQ(help_of({"do", "--port", "x", "-q", "-q", "--help"}), "do");
  EXPECT_EQ(help_of({"do", "--group", "--help"}), "do");
  EXPECT_EQ(help_of({"create", "--frobnicate", "server", "--help"}), "create");
  EXPECT_EQ(help_of({"frobnicate", "--help"}),
            "there is no verb 'frobnicate'; 'strata --help' shows all");
  EXPECT_FALSE(parse({"do", "--help=false"})->wants_help);
  EXPECT_FALSE(parse({"do", "--", "--help"})->wants_help);
  EXPECT_EQ(parse({"do", "--group=--help"})->flags["group"], "--help");
}

TEST(command_line, tells_which_words_are_literal) {
  EXPECT_EQ(parse({"do", "a", "-"})->first_literal, SIZE_MAX);
  EXPECT_EQ(parse({"do", "a", "--", "-"})->first_literal, 1U);
  EXPECT_EQ(parse({"do", "--", "--", "-"})->first_literal, 0U);
  EXPECT_EQ(parse({"--", "do", "-"})->first_literal, 0U);
  EXPECT_EQ(parse({"do", "--group", "--", "-"})->first_literal, SIZE_MAX);  // the flag's value
}

TEST(command_line, a_users_command_has_flags_of_its_own) {
  const auto line = parse({"run", "-q", "app", "-p", "1", "ls", "-l", "--help", "--", "-q"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->words, (words{"app", "ls", "-l", "--help", "--", "-q"}));
  EXPECT_EQ(line->flags, json::parse(R"({"quiet": true, "port": 1})"));
  EXPECT_EQ(line->first_literal, 1U);
  EXPECT_FALSE(line->wants_help);
  EXPECT_EQ(parse({"run", "app", "--", "-l"})->words, (words{"app", "-l"}));
  EXPECT_TRUE(parse({"run", "app", "--help"})->wants_help);
}

TEST(command_line, takes_hostile_lines) {
  constexpr std::size_t many = 100'000;
  words tokens(many, "word");
  EXPECT_EQ(parse(with_verb(tokens))->words.size(), many);
  for (const auto* one : {"-lx", "--", "---", "-", "-5", "\n", "-\n", "-- x", "\xff\xfe"}) {
    tokens.assign(many, one);
    EXPECT_TRUE(parse(with_verb(tokens))) << one;
  }
  tokens.assign(many, "-q");
  EXPECT_EQ(refusal_of(tokens), "--quiet is given 100000 times; give it once");
  tokens.assign(many, "--frobnicate");
  EXPECT_EQ(refusal_of(tokens), "'strata do' has no flag '--frobnicate'; see 'strata do --help'");
  const std::string huge(1U << 24U, 'x');
  expect_line({huge}, {huge}, "{}");
  EXPECT_EQ(parse({"do", "--listen", huge})->flags["listen"], json::array({huge}));
  EXPECT_FALSE(refusal_of({"--" + huge}).empty());
  EXPECT_FALSE(refusal_of({"-" + huge}).empty());
  EXPECT_FALSE(refusal_of({"--port", huge}).empty());
  EXPECT_EQ(parse({"do", "-" + std::string(1000, 'q')}).error().message,
            "--quiet is given 1000 times; give it once");
}

TEST(command_line, takes_odd_flags) {
  EXPECT_EQ(refusal_of({"--=x"}), "'strata do' has no flag '--'; see 'strata do --help'");
  EXPECT_EQ(refusal_of({"-="}), "'strata do' has no flag '-'; see 'strata do --help'");
  EXPECT_EQ(refusal_of({"-=x"}), "'strata do' has no flag '-'; see 'strata do --help'");
  EXPECT_EQ(refusal_of({"-q=true"}), "'strata do' has no flag '-'; see 'strata do --help'");
  EXPECT_EQ(refusal_of({"--quiet="}), "cannot set --quiet to '': it takes true or false");
  EXPECT_EQ(refusal_of({"-p="}), "cannot set --port to '=': it takes a port from 0 to 65535");
  EXPECT_EQ(refusal_of({"--port="}), "cannot set --port to '': it takes a port from 0 to 65535");
  EXPECT_EQ(refusal_of({"--max_message", "1"}),
            "'strata do' has no flag '--max_message' (did you mean '--max-message'?); see 'strata "
            "do --help'");
  EXPECT_EQ(refusal_of({"-\xc3\xa9"}),
            "'strata do' has no flag '-\xc3\xa9'; see 'strata do --help'");
  expect_line({"-g", "a\nb", "-l", "\n", "-l="}, {}, R"({"group": "a\nb", "listen": ["\n", "="]})");
  expect_line({"---", "---x", "- x", "-5", "-5q", "-"}, {"---", "---x", "- x", "-5", "-5q", "-"},
              "{}");
}

TEST(command_line, picks_the_flags_of_some_rows) {
  const auto flags = json::parse(R"({"port": 1, "quiet": true})");
  EXPECT_EQ(pick_flags(flags, std::span(rows).first(1)), json::parse(R"({"port": 1})"));
}

TEST(command_line, means_relative_paths_in_the_folder_of_the_caller) {
  const option_rows paths = {
      {.key = "write", .reach = options::option_reach::written_path},
      {.key = "cert", .kind = list, .reach = options::option_reach::read_path},
      {.key = "group"}};
  const auto here = std::filesystem::current_path().string();
  const auto picked = pick_flags(
      {{"write", "./said"}, {"cert", {"a.pem", "/b.pem", "x/../c.pem"}}, {"group", "g"}}, paths);
  EXPECT_EQ(picked, json({{"write", here + "/said"},
                          {"cert", {here + "/a.pem", "/b.pem", here + "/c.pem"}},
                          {"group", "g"}}));
  EXPECT_EQ(pick_flags({{"write", ""}}, paths), json({{"write", ""}}));  // empty stays empty
}

}  // namespace
}  // namespace strata::cli
