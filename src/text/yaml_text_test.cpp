#include "text/yaml_text.hpp"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>

namespace strata::text {
namespace {

using json = nlohmann::ordered_json;

TEST(yaml_text, short_values_stand_on_one_line_and_long_ones_are_broken) {
  const std::string words = std::string(90, 'a') + " " + std::string(90, 'b');
  const json value = {{"short", {{"type", "string"}, {"of", {1, 2.5, nullptr}}}},
                      {"long", {{"text", words}, {"list", {words, {{"x", 1}, {"y", words}}}}}},
                      {"none", json::object()}};
  const auto folded = [](const std::string& margin) {
    return ">-\n" + margin + std::string(90, 'a') + "\n" + margin + std::string(90, 'b') + "\n";
  };
  EXPECT_EQ(to_yaml(value),
            "short: {type: string, of: [1, 2.5, null]}\n"
            "long:\n"
            "  text: " +
                folded("    ") +
                "  list:\n"
                "    - " +
                folded("      ") +
                "    - x: 1\n"
                "      \"y\": " +
                folded("        ") + "none: {}\n");
}

TEST(yaml_text, every_text_is_read_back_as_itself) {
  std::vector<std::string> texts = {"",      "plain", "true",  "No",   "1",     "1e3", "~",
                                    "- a",   "a: b",  "a #b",  "{a}",  "[",     "a,b", "it's",
                                    "\"q\"", "a\nb",  " lead", "end ", "#/ref", "*",   "é"};
  for (const auto* each : {"", ": ", "  ", "\n", "\t"}) {
    texts.push_back(std::string(60, 'a') + each + " " + std::string(60, 'b'));
  }
  for (const auto& text : texts) {
    const auto in_block = YAML::Load(to_yaml({{"key", text}, {"list", {text, text}}}));
    EXPECT_EQ(in_block["key"].as<std::string>(), text);
    EXPECT_EQ(in_block["key"].Tag() == "!" || text.size() > 20, text != "plain" && text != "it's")
        << text;
    EXPECT_EQ(in_block["list"][1].as<std::string>(), text);
  }
}

}  // namespace
}  // namespace strata::text
