#include "stack/document.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <tuple>

namespace strata::stack {
namespace {

using nlohmann::json;
using options::option_kind;
using options::option_reach;
using options::option_row;
using names = std::vector<std::string>;

constexpr option_row server_rows[] = {
    {.key = "port", .kind = option_kind::port},
    {.key = "listen", .kind = option_kind::list},
    {.key = "local", .kind = option_kind::flag},
    {.key = "mode", .kind = option_kind::choice, .choices = "inout|echo"},
    {.key = "lua", .kind = option_kind::text, .reach = option_reach::read_path},
    {.key = "owner", .kind = option_kind::text},
    {.key = "group", .kind = option_kind::text},
    {.key = "label", .kind = option_kind::list},
};
constexpr option_row proxy_rows[] = {
    {.key = "backend", .kind = option_kind::list, .reach = option_reach::connecting},
    {.key = "route", .kind = option_kind::list, .reach = option_reach::connecting},
    {.key = "label", .kind = option_kind::list},
};

reading here() {
  return {.file = "strata.yaml",
          .folder = "/etc/stack",
          .rows_of = [](std::string_view type) -> std::span<const option_row> {
            if (type == "server") return server_rows;
            if (type == "proxy") return proxy_rows;
            return {};
          },
          .types = {"server", "proxy"},
          .variable = [](const std::string& name) -> std::optional<std::string> {
            if (name == "port") return "9001";
            return std::nullopt;
          }};
}

result<document> read(std::string_view text) { return read_document(text, "folder", here()); }

std::string reason_of(std::string_view text) {
  const auto refused = read(text);
  return refused ? "" : refused.error().reason;
}

names order_of(std::string_view text) {
  names order;
  const auto document = read(text);
  EXPECT_TRUE(document) << document.error().reason;
  if (!document) return order;
  for (const auto& each : document->runtimes) order.push_back(each.desired.name);
  return order;
}

TEST(document, describes_runtimes_with_their_options) {
  const auto shop = read(R"(
name: shop
variables: {port: 8080, mode: echo}
runtimes:
  web:
    type: server
    port: ${port}
    local: true
    mode: "${mode}"
    lua: web.lua
    listen: tcp://127.0.0.1:1
    label: [tier=1]
    owner: ~
    start: false
)");
  ASSERT_TRUE(shop) << shop.error().reason;
  EXPECT_EQ(shop->name, "shop");
  ASSERT_EQ(shop->runtimes.size(), 1U);
  const auto& web = shop->runtimes[0].desired;
  EXPECT_EQ(web.type, "server");
  EXPECT_FALSE(web.runs);
  EXPECT_EQ(web.options, (json{{"port", 9001},
                               {"local", true},
                               {"mode", "echo"},
                               {"lua", "/etc/stack/web.lua"},
                               {"listen", {"tcp://127.0.0.1:1"}},
                               {"label", {"tier=1"}},
                               {"owner", nullptr}}));
  EXPECT_EQ(shop->runtimes[0].at.line, 5);
  EXPECT_EQ(shop->runtimes[0].at.column, 3);
}

TEST(document, without_a_name_has_that_of_its_folder) {
  EXPECT_EQ(read("runtimes: {}")->name, "folder");
  EXPECT_TRUE(read("")->runtimes.empty());
}

TEST(document, those_that_others_need_come_first) {
  EXPECT_EQ(order_of(R"(
runtimes:
  front: {type: proxy, backend: ["b weight=2", runtime://a]}
  c: {type: server, owner: b}
  b: {type: server, depends_on: [a]}
  a: {type: server}
)"),
            (names{"a", "b", "front", "c"}));
  EXPECT_EQ(order_of("runtimes: {b: {type: server}, a: {type: server}}"), (names{"b", "a"}));
  EXPECT_EQ(order_of(R"(
runtimes:
  front: {type: proxy, backend: "@web prefer=zone", route: ["path=/d -> runtime://a, b backup"]}
  c: {type: server, group: web}
  backup: {type: server}
  b: {type: server}
  a: {type: server}
)"),
            (names{"c", "a", "b", "front", "backup"}));
}

TEST(document, runtimes_belong_to_daemons) {
  const auto placed = read(R"(
variables: {region: eu}
runtimes:
  front: {type: proxy, backend: [api@west, "@group"]}
  api:
    type: server
    on: west
  store: {type: server, on: [east-*, "region=${region},tier=1"]}
)");
  ASSERT_TRUE(placed) << placed.error().reason;
  const auto& [api, front, store] =
      std::tie(placed->runtimes.at(0), placed->runtimes.at(1), placed->runtimes.at(2));
  EXPECT_EQ(api.desired.name, "api");
  EXPECT_EQ(api.daemons, names{"west"});
  EXPECT_EQ(api.daemons_at.line, 7);
  EXPECT_EQ(api.daemons_at.column, 9);
  EXPECT_TRUE(front.daemons.empty());
  EXPECT_EQ(store.daemons, (names{"east-*", "region=eu,tier=1"}));
}

TEST(document, a_circle_is_refused_with_its_runtimes) {
  EXPECT_NE(reason_of(R"(
runtimes:
  a: {type: server, depends_on: b}
  b: {type: proxy, backend: a}
)")
                .find("circle: a → b → a"),
            std::string::npos);
}

TEST(document, merges_maps) {
  const auto merged = read(R"(
x-usual: &usual {type: server, local: true, mode: echo}
runtimes:
  a: {<<: *usual, mode: inout}
  b: {<<: [*usual, {port: 1}]}
)");
  ASSERT_TRUE(merged) << merged.error().reason;
  EXPECT_EQ(merged->runtimes[0].desired.options["mode"], "inout");
  EXPECT_EQ(merged->runtimes[0].desired.options["local"], true);
  EXPECT_EQ(merged->runtimes[1].desired.options["port"], 1);
}

struct wrong_document {
  std::string_view text;
  std::string_view begin;  ///< of the reason
  std::string_view part;
};

TEST(document, mistakes_have_a_place_and_a_remedy) {
  constexpr wrong_document all[] = {
      {"name: [", "strata.yaml:1:", ""},
      {"- a", "strata.yaml:1:1: ", "must be a map"},
      {"runtime: {}", "strata.yaml:1:1: ", "did you mean 'runtimes'?"},
      {"name: ''", "strata.yaml:1:1: ", "empty"},
      {"runtimes:\n  a: {}", "strata.yaml:2:3: ", "has no 'type'; there are server, proxy"},
      {"runtimes:\n  a: {type: sever}", "strata.yaml:2:13: ", "did you mean 'server'?"},
      {"runtimes:\n  a:\n    type: server\n    prot: 1",
       "strata.yaml:4:5: ", "did you mean 'port'?"},
      {"runtimes:\n  a:\n    type: server\n    port: many", "strata.yaml:4:11: ", "many"},
      {"runtimes:\n  a: {type: server, port: [1]}", "strata.yaml:2:27: ", "port"},
      {"runtimes:\n  a: {type: server, mode: {}}", "strata.yaml:2:27: ", "single value"},
      {"runtimes:\n  a: {type: server, start: maybe}", "strata.yaml:2:28: ", "not true or false"},
      {"runtimes:\n  a: {type: server, depends_on: [b]}",
       "strata.yaml:2:3: ", "which the stack does not describe"},
      {"runtimes:\n  a: {type: server}\n  a: {type: server}", "strata.yaml:3:3: ", "twice"},
      {"runtimes:\n  a: {type: server, on: [a, =x]}", "strata.yaml:2:25: ", "'=x' in 'on'"},
      {"runtimes:\n  a: {type: server, on: a b}", "strata.yaml:2:25: ", "'a b' in 'on'"},
      {"runtimes:\n  a: {type: server, on: {a: b}}", "strata.yaml:2:25: ", "KEY=VALUE"},
      {"runtimes:\n  a: {type: server, on: []}", "strata.yaml:2:25: ", "names no daemon"},
      {"runtimes:\n  a: {type: server, mode: $x}", "strata.yaml:2:27: ", "${NAME}"},
      {"runtimes:\n  a: {type: server, mode: '${nope}'}",
       "strata.yaml:2:27: ", "'nope' has no value"},
      {"runtimes: {[a]: {type: server}}", "strata.yaml:1:12: ", "plain word"},
  };
  for (const auto& [text, begin, part] : all) {
    const auto reason = reason_of(text);
    EXPECT_TRUE(reason.starts_with(begin)) << text << ": " << reason;
    EXPECT_TRUE(reason.contains(part)) << text << ": " << reason;
  }
}

TEST(document, hostile_text_is_refused_and_costs_little) {
  EXPECT_NE(reason_of(std::string((1U << 20U) + 1, ' ')), "");
  std::string bomb = "x-0: &a0 {}\n";
  for (int at = 1; at < 40; ++at) {
    bomb += fmt::format("x-{0}: &a{0} {{<<: [*a{1}, *a{1}]}}\n", at, at - 1);
  }
  EXPECT_NE(reason_of(bomb + "runtimes: {a: {<<: *a39}}"), "");
  EXPECT_NE(reason_of("runtimes: {a: &x {<<: *x}}"), "");
  EXPECT_NE(reason_of("runtimes: &x {a: *x}"), "");
  EXPECT_NE(reason_of("runtimes: {a: {type: server, listen: &x [*x]}}"), "");
  EXPECT_NE(reason_of(std::string(100'000, '[')), "");
  EXPECT_NE(reason_of(std::string(100'000, '{')), "");
  EXPECT_NE(reason_of("\xff\xfe: \x01"), "");
}

TEST(document, the_schema_has_all_options_of_all_types) {
  const auto schema = document_schema(here());
  for (const auto& type : here().types) {
    const auto& definition = schema["$defs"][type];
    EXPECT_EQ(definition["required"], (nlohmann::ordered_json{"type"}));
    for (const auto& row : here().rows_of(type)) {
      EXPECT_TRUE(definition["properties"].contains(std::string(row.key))) << type << row.key;
    }
  }
}

}  // namespace
}  // namespace strata::stack
