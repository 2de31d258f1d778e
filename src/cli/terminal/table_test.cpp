#include "cli/terminal/table.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace strata::cli {
namespace {

using nlohmann::json;

constexpr column columns[] = {
    {"name", "/name"},
    {"endpoints", "/endpoints"},
    {"now", "/connections/now"},
    {"dropped", "/dropped", unit::total, false},
    {"bytes_in", "/bytes/in", unit::bytes},
    {"uptime", "/uptime_s", unit::seconds},
    {"owner", "/owner", unit::none, false},
};

const auto two = json::parse(R"([
  {"name": "a", "endpoints": ["tcp://0.0.0.0:1", "unix:///x"], "connections": {"now": 5},
   "bytes": {"in": 2048}, "uptime_s": 65.2, "owner": "", "dropped": {"a": 9, "b": 3}},
  {"name": "longer", "endpoints": [], "connections": {"now": 12345},
   "bytes": {"in": 1}, "uptime_s": 0, "owner": "ä", "dropped": {}}
])");

TEST(table, aligns_columns_without_trailing_spaces) {
  EXPECT_EQ(render_table(*select_columns(columns, ""), two),
            "NAME    ENDPOINTS                     NOW  BYTES_IN  UPTIME\n"
            "a       tcp://0.0.0.0:1, unix:///x      5      2KiB   1m05s\n"
            "longer  -                           12345        1B      0s\n");
  EXPECT_EQ(render_table(*select_columns(columns, "owner,name"), two),
            "OWNER  NAME\n-      a\nä      longer\n");
  EXPECT_EQ(render_table(*select_columns(columns, "dropped,name"), two),
            "DROPPED  NAME\n     12  a\n      0  longer\n");
  EXPECT_EQ(render_table(*select_columns(columns, "name"), json::array()), "NAME\n");
}

TEST(table, may_have_no_header_and_no_long_cells) {
  EXPECT_EQ(render_table(*select_columns(columns, "name,now"), two, {.has_header = false}),
            "a           5\nlonger  12345\n");
  EXPECT_EQ(render_table(*select_columns(columns, "name,endpoints"), two, {.longest_cell = 8}),
            "NAME    ENDPOINTS\na       tcp://0…\nlonger  -\n");
  EXPECT_EQ(render_table(*select_columns(columns, "name"), json::array(), {.has_header = false}),
            "");
  const auto none = [](std::string_view, const json&) { return unit::none; };
  EXPECT_EQ(render_object(json{{"b", 1}, {"name", "x"}}, none, {.has_header = false}),
            "name  x\nb     1\n");
}

TEST(table, survives_values_of_any_type) {
  const auto odd = json::parse(
      R"([null, 5, "x", [], {"name": {"a": [1]}, "endpoints": 7, "connections": null,
          "bytes": [1], "uptime_s": "soon\u001b[2J"}])");
  EXPECT_EQ(render_table(*select_columns(columns, "name,endpoints,now,bytes_in,uptime"), odd),
            "NAME  ENDPOINTS  NOW  BYTES_IN  UPTIME\n"
            "-     -          -    -         -\n"
            "-     -          -    -         -\n"
            "-     -          -    -         -\n"
            "-     -          -    -         -\n"
            "a 1   7          -    -         soon\\x1b[2J\n");
}

TEST(table, keeps_members_that_columns_come_from) {
  EXPECT_EQ(keep_columns(*select_columns(columns, "now,uptime"), two),
            json::parse(R"([{"connections": {"now": 5}, "uptime_s": 65.2},
                            {"connections": {"now": 12345}, "uptime_s": 0}])"));
  EXPECT_EQ(keep_columns(*select_columns(columns, "now"), json::parse("[3]")),
            json::parse(R"([{"connections": null}])"));
}

TEST(table, refuses_unknown_columns) {
  const auto refused = select_columns(columns, "name,uptme");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().exit, exit_misused);
  EXPECT_EQ(refused.error().message,
            "there is no column 'uptme' (did you mean 'uptime'?); there are name, endpoints, now, "
            "dropped, bytes_in, uptime, owner");
  EXPECT_FALSE(select_columns(columns, "name,,owner"));
}

TEST(table, shows_one_object_as_fields) {
  const auto object =
      json::parse(R"({"b": {"c": 1, "d": [1, "x"]}, "a": true, "e": null, "f": "", "name": 1.5})");
  EXPECT_EQ(render_object(object, [](std::string_view, const json&) { return unit::none; }),
            "FIELD  VALUE\nname   1.5\na      yes\nb.c    1\nb.d    1, x\ne      -\nf      -\n");
}

TEST(table, text_at_never_throws) {
  EXPECT_EQ(text_at(json::parse(R"({"a": "b"})"), "a"), "b");
  EXPECT_EQ(text_at(json::parse(R"({"a": 1})"), "a"), "");
  EXPECT_EQ(text_at(json::parse("[1]"), "a"), "");
  EXPECT_EQ(text_at(json{}, "a"), "");
}

}  // namespace
}  // namespace strata::cli
