#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stack/document.hpp"

namespace strata::stack {

using nlohmann::ordered_json;
using options::option_kind;
using options::option_row;

namespace {

constexpr auto variable_pattern = R"(\$\{)";

ordered_json text_schema() { return {{"type", "string"}}; }

/// A value of the row's own type, or text: as on the command line, or with variables.
ordered_json with_text(ordered_json own) { return {{"anyOf", {std::move(own), text_schema()}}}; }

ordered_json choice_schema(const option_row& row) {
  auto choices = ordered_json::array();
  for (const auto each : options::split_choices(row.choices)) choices.push_back(each);
  return {{"anyOf",
           {{{"enum", std::move(choices)}}, {{"type", "string"}, {"pattern", variable_pattern}}}}};
}

ordered_json number_schema(const option_row& row) {
  ordered_json schema{{"type", "integer"}, {"minimum", row.min}};
  if (row.kind == option_kind::port) {
    schema["maximum"] = 65535;
  } else if (row.max != UINT64_MAX) {
    schema["maximum"] = row.max;
  }
  return schema;
}

ordered_json value_schema(const option_row& row) {
  switch (row.kind) {
    case option_kind::flag: return with_text({{"type", "boolean"}});
    case option_kind::count:
    case option_kind::port:
    case option_kind::bytes: return with_text(number_schema(row));
    case option_kind::seconds: return with_text({{"type", "number"}, {"minimum", 0}});
    case option_kind::choice: return choice_schema(row);
    case option_kind::list: return with_text({{"type", "array"}, {"items", text_schema()}});
    case option_kind::text:
    case option_kind::secret: break;
  }
  return text_schema();
}

ordered_json option_schema(const option_row& row) {
  auto schema = value_schema(row);
  schema["description"] = row.help;
  if (!row.default_text.empty()) schema["default"] = row.default_text;
  return schema;
}

ordered_json daemons_schema() {
  return {
      {"description",
       "daemons of the cluster that have it: names, globs, or labels as KEY=VALUE; without "
       "it, the daemon that the command speaks to"},
      {"anyOf", {text_schema(), {{"type", "array"}, {"minItems", 1}, {"items", text_schema()}}}}};
}

ordered_json runtime_schema(const reading& reading, const std::string& type) {
  ordered_json properties{{"type", {{"const", type}}},
                          {"start",
                           {{"type", "boolean"},
                            {"default", true},
                            {"description", "false: it is left started or stopped as it is"}}},
                          {"depends_on",
                           {{"description", "runtimes of the stack that must exist before it"},
                            {"type", "array"},
                            {"items", text_schema()}}},
                          {"on", daemons_schema()},
                          {"<<", ordered_json::object()}};
  for (const auto& row : reading.rows_of(type)) {
    properties[std::string(row.key)] = option_schema(row);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", {"type"}},
          {"additionalProperties", false}};
}

}  // namespace

ordered_json document_schema(const reading& reading) {
  auto definitions = ordered_json::object();
  auto references = ordered_json::array();
  for (const auto& type : reading.types) {
    definitions[type] = runtime_schema(reading, type);
    references.push_back({{"$ref", "#/$defs/" + type}});
  }
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "a stack of strata"},
          {"type", "object"},
          {"properties",
           {{"name", {{"type", "string"}, {"description", "name of the stack"}}},
            {"variables",
             {{"description", "defaults of variables, which --set and the environment override"},
              {"type", "object"},
              {"additionalProperties", {{"type", {"string", "number", "boolean"}}}}}},
            {"runtimes",
             {{"type", "object"}, {"additionalProperties", {{"oneOf", std::move(references)}}}}}}},
          {"patternProperties", {{"^x-", ordered_json::object()}}},
          {"additionalProperties", false},
          {"$defs", std::move(definitions)}};
}

}  // namespace strata::stack
