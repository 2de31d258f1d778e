// docs/openapi.yaml is what the tables generate. To regenerate it:
//   STRATA_WRITE_OPENAPI=1 build/debug/tests/strata_unit_tests --gtest_filter='openapi.*'
#include "daemon/api/openapi.hpp"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "daemon/api/control_answers.hpp"

namespace strata::daemon {
namespace {

std::string made() { return openapi_text(control_answers::route_rows()); }

TEST(openapi, the_file_in_docs_is_what_the_tables_make) {
  if (std::getenv("STRATA_WRITE_OPENAPI") != nullptr) {
    std::ofstream(STRATA_OPENAPI_FILE) << made();
  }
  std::stringstream kept;
  kept << std::ifstream(STRATA_OPENAPI_FILE).rdbuf();
  EXPECT_EQ(kept.str(), made()) << "renew it: STRATA_WRITE_OPENAPI=1 "
                                   "build/debug/tests/strata_unit_tests --gtest_filter='openapi.*'";
}

void collect_references(const YAML::Node& node, std::set<std::string>& texts) {
  if (node.IsMap()) {
    for (const auto& member : node) {
      if (member.first.as<std::string>() == "$ref") texts.insert(member.second.as<std::string>());
      collect_references(member.second, texts);
    }
  } else if (node.IsSequence()) {
    for (const auto& element : node) collect_references(element, texts);
  }
}

TEST(openapi, every_reference_leads_somewhere_and_every_schema_is_used) {
  const auto document = YAML::Load(made());
  std::set<std::string> wanted;
  collect_references(document, wanted);
  std::set<std::string> there;
  for (const auto& kind : document["components"]) {
    for (const auto& each : kind.second) {
      there.insert("#/components/" + kind.first.as<std::string>() + "/" +
                   each.first.as<std::string>());
    }
  }
  EXPECT_EQ(wanted, there);
}

TEST(openapi, options_and_figures_come_from_their_rows) {
  const auto schemas = YAML::Load(made())["components"]["schemas"];
  const auto threads = schemas["ServerOptions"]["properties"]["threads"];
  EXPECT_EQ(threads["type"].as<std::string>(), "integer");
  EXPECT_EQ(threads["default"].as<int>(), 1);
  EXPECT_EQ(threads["maximum"].as<int>(), 64);
  const auto figures = schemas["Stats"]["properties"];
  EXPECT_EQ(figures["messages"]["properties"]["in"]["description"].as<std::string>(),
            "messages received");
  EXPECT_EQ(figures["dropped"]["properties"].size(), std::size(runtime::drop_names));
  EXPECT_TRUE(figures["keys"]["properties"]["hits"]);
}

}  // namespace
}  // namespace strata::daemon
