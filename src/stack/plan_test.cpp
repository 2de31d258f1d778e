#include "stack/plan.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace strata::stack {
namespace {

using nlohmann::json;
using options::option_kind;
using options::option_reach;
using options::option_row;

constexpr option_row rows[] = {
    {.key = "port", .kind = option_kind::port, .needs_restart = true},
    {.key = "listen", .kind = option_kind::list, .needs_restart = true},
    {.key = "local", .kind = option_kind::flag},
    {.key = "max_message", .kind = option_kind::bytes, .default_text = "1MiB"},
    {.key = "threads",
     .kind = option_kind::count,
     .default_text = "1",
     .needs_restart = true,
     .max = 64,
     .min = 1},
    {.key = "idle_timeout", .kind = option_kind::seconds, .default_text = "0"},
    {.key = "group", .kind = option_kind::text},
    {.key = "mode",
     .kind = option_kind::choice,
     .default_text = "inout",
     .choices = "inout|echo|master"},
    {.key = "password", .kind = option_kind::secret},
    {.key = "lua", .kind = option_kind::text, .reach = option_reach::read_path},
    {.key = "cert", .kind = option_kind::list, .reach = option_reach::read_path},
    {.key = "origin", .kind = option_kind::list, .default_text = "*"},
};

result<json> normalised_here(json options) {
  return normalised(rows, "server", std::move(options), "/etc/stack");
}

std::string refusal(json options) {
  const auto refused = normalised_here(std::move(options));
  return refused ? "" : describe(refused.error());
}

desired_runtime chat(json options) {
  return {.name = "chat", .type = "server", .options = std::move(options)};
}

present_runtime running_chat() {
  return {.type = "server",
          .options = {{"port", 9000},
                      {"listen", json::array()},
                      {"local", false},
                      {"max_message", 1048576},
                      {"threads", 1},
                      {"idle_timeout", 0.0},
                      {"group", "g"},
                      {"mode", "inout"},
                      {"password", "********"},
                      {"lua", "/etc/stack/echo.lua"},
                      {"cert", json::array()},
                      {"origin", {"*"}}},
          .is_running = true};
}

json changes_for(json options) {
  const auto planned = plan_for(rows, chat(std::move(options)), running_chat());
  return planned ? planned->changes : json(describe(planned.error()));
}

json nested(std::size_t depth) {
  json value = "deep";
  for (std::size_t i = 0; i < depth; ++i) value = json::array({std::move(value)});
  return value;
}

TEST(plan, a_runtime_that_is_missing_is_created_with_all_its_options) {
  const json options = {{"port", 9000}, {"group", nullptr}};
  const auto started = plan_for(rows, chat(options), std::nullopt);
  ASSERT_TRUE(started) << describe(started.error());
  EXPECT_TRUE(started->is_creation);
  EXPECT_EQ(started->changes, options);
  EXPECT_TRUE(started->waiting.empty());
  EXPECT_TRUE(started->is_start);

  auto stopped = chat(options);
  stopped.runs = false;
  EXPECT_FALSE(plan_for(rows, stopped, std::nullopt)->is_start);
}

TEST(plan, a_runtime_that_is_as_described_needs_nothing) {
  const auto planned = plan_for(
      rows, chat({{"port", 9000}, {"group", "g"}, {"password", "hush"}, {"mode", nullptr}}),
      running_chat());
  ASSERT_TRUE(planned) << describe(planned.error());
  EXPECT_FALSE(planned->is_creation);
  EXPECT_EQ(planned->changes, json::object());
  EXPECT_TRUE(planned->waiting.empty());
  EXPECT_FALSE(planned->is_start);
}

TEST(plan, options_that_differ_are_changed_and_others_stay) {
  const auto planned = plan_for(
      rows, chat({{"group", "h"}, {"max_message", 1048576}, {"idle_timeout", 5}}), running_chat());
  ASSERT_TRUE(planned) << describe(planned.error());
  EXPECT_EQ(planned->changes, json({{"group", "h"}, {"idle_timeout", 5}}));
  EXPECT_TRUE(planned->waiting.empty());
}

TEST(plan, options_wait_for_a_restart_only_while_the_runtime_runs) {
  const auto desired = chat({{"threads", 2}, {"group", "h"}, {"port", 9001}});
  const auto waiting = plan_for(rows, desired, running_chat());
  ASSERT_TRUE(waiting) << describe(waiting.error());
  EXPECT_EQ(waiting->changes.size(), 3U);
  EXPECT_EQ(waiting->waiting, (std::vector<std::string>{"port", "threads"}));
  EXPECT_FALSE(waiting->is_start);

  auto present = running_chat();
  present.is_running = false;
  const auto started = plan_for(rows, desired, present);
  ASSERT_TRUE(started) << describe(started.error());
  EXPECT_EQ(started->changes, waiting->changes);
  EXPECT_TRUE(started->waiting.empty());
  EXPECT_TRUE(started->is_start);
}

TEST(plan, a_runtime_that_need_not_run_is_neither_started_nor_stopped) {
  auto desired = chat(json::object());
  desired.runs = false;
  auto present = running_chat();
  EXPECT_FALSE(plan_for(rows, desired, present)->is_start);
  present.is_running = false;
  EXPECT_FALSE(plan_for(rows, desired, present)->is_start);
}

TEST(plan, null_resets_an_option_unless_it_has_its_default) {
  for (const auto& row : rows) {
    const std::string key(row.key);
    const bool is_set = key == "port" || key == "group" || key == "password" || key == "lua";
    const auto reset = json{{key, nullptr}};
    EXPECT_EQ(changes_for(reset), is_set ? reset : json::object()) << key;
  }
  auto present = running_chat();
  present.options["max_message"] = 10;
  present.options["origin"] = {"https://a.example"};
  const auto planned =
      plan_for(rows, chat({{"max_message", nullptr}, {"origin", nullptr}}), present);
  ASSERT_TRUE(planned) << describe(planned.error());
  EXPECT_EQ(planned->changes, json({{"max_message", nullptr}, {"origin", nullptr}}));
}

TEST(plan, a_secret_that_can_be_seen_is_compared) {
  auto present = running_chat();
  present.options["password"] = "credential:chat";
  const auto planned = plan_for(rows, chat({{"password", "hush"}}), present);
  ASSERT_TRUE(planned) << describe(planned.error());
  EXPECT_EQ(planned->changes, json({{"password", "hush"}}));
}

TEST(plan, a_runtime_of_another_type_is_refused) {
  auto present = running_chat();
  present.type = "cache";
  const auto refused = plan_for(rows, chat({{"no_such_option", 1}}), present);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::already_exists);
  EXPECT_EQ(refused.error().reason,
            "'chat' already exists and is a cache: remove it or choose another name");
}

TEST(plan, an_unknown_option_is_refused_and_the_nearest_is_named) {
  const auto refused = normalised_here({{"prot", 1}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::not_supported);
  EXPECT_EQ(refused.error().reason, "a server has no option 'prot' (did you mean 'port'?)");
  EXPECT_EQ(refusal({{"prot", nullptr}}),
            "cannot set option 'prot': a server has no option 'prot' (did you mean 'port'?)");

  const auto unplanned = plan_for(rows, chat({{"prot", 1}}), running_chat());
  ASSERT_FALSE(unplanned);
  EXPECT_EQ(unplanned.error().reason, refused.error().reason);
}

TEST(plan, text_of_numbers_and_flags_becomes_their_value) {
  const auto options = normalised_here({{"port", "9000"},
                                        {"local", "true"},
                                        {"max_message", "64KiB"},
                                        {"threads", "2"},
                                        {"idle_timeout", "5m"},
                                        {"group", "7"},
                                        {"mode", nullptr}});
  ASSERT_TRUE(options) << describe(options.error());
  EXPECT_EQ(*options, json({{"port", 9000},
                            {"local", true},
                            {"max_message", 65536},
                            {"threads", 2},
                            {"idle_timeout", 300},
                            {"group", "7"},
                            {"mode", nullptr}}));
}

TEST(plan, one_text_is_a_list_and_an_empty_object_is_an_empty_one) {
  const auto options = normalised_here({{"listen", "tcp://127.0.0.1:0"}, {"cert", json::object()}});
  ASSERT_TRUE(options) << describe(options.error());
  EXPECT_EQ(options->at("listen"), json::array({"tcp://127.0.0.1:0"}));
  EXPECT_EQ(options->at("cert"), json::array());
}

TEST(plan, relative_paths_are_below_the_folder) {
  const auto options = normalised_here(
      {{"lua", "echo.lua"}, {"cert", {"a.pem", "/b.pem", ""}}, {"group", "no/path"}});
  ASSERT_TRUE(options) << describe(options.error());
  EXPECT_EQ(options->at("lua"), "/etc/stack/echo.lua");
  EXPECT_EQ(options->at("cert"), json::array({"/etc/stack/a.pem", "/b.pem", ""}));
  EXPECT_EQ(options->at("group"), "no/path");
  EXPECT_EQ(changes_for(*normalised_here({{"lua", "echo.lua"}})), json::object());
}

TEST(plan, normalised_options_stay_as_they_are) {
  const auto once = normalised_here(
      {{"listen", "tcp://127.0.0.1:0"}, {"max_message", "64KiB"}, {"lua", "echo.lua"}});
  ASSERT_TRUE(once) << describe(once.error());
  const auto twice = normalised_here(*once);
  ASSERT_TRUE(twice) << describe(twice.error());
  EXPECT_EQ(*twice, *once);
}

TEST(plan, wrong_values_are_refused_with_option_and_value) {
  EXPECT_EQ(refusal({{"port", "many"}}),
            "cannot set 'port' to \"many\": it takes a port from 0 to 65535, as a number");
  EXPECT_EQ(refusal({{"mode", "odd"}}),
            "cannot set 'mode' to \"odd\": it takes one of inout|echo|master");
  for (const auto& row : rows) {
    for (const json& value : {json(-1), json({{"a", 1}}), json({1, 2}), nested(100)}) {
      const std::string key(row.key);
      EXPECT_NE(refusal({{key, value}}).find("'" + key + "'"), std::string::npos)
          << key << " took " << value;
    }
  }
  EXPECT_EQ(refusal({{"password", {"hush"}}}).find("hush"), std::string::npos);
}

TEST(plan, options_that_are_no_object_are_refused) {
  for (const json& options : {json(), json(1), json("text"), json::array({1, 2}), nested(100)}) {
    EXPECT_EQ(refusal(options), "cannot read the options: they are not a JSON object");
  }
}

TEST(plan, what_the_daemon_shows_may_have_any_form) {
  for (const json& shown : {json(), json(1), json("text"), json::array({1}), nested(100)}) {
    auto present = running_chat();
    present.options = shown;
    const auto whole = plan_for(rows, chat({{"group", "g"}, {"mode", nullptr}}), present);
    ASSERT_TRUE(whole) << describe(whole.error());
    EXPECT_TRUE(whole->changes.contains("group"));

    present.options = {{"group", shown}};
    const auto one = plan_for(rows, chat({{"group", "g"}}), present);
    ASSERT_TRUE(one) << describe(one.error());
    EXPECT_EQ(one->changes, json({{"group", "g"}}));
  }
}

}  // namespace
}  // namespace strata::stack
