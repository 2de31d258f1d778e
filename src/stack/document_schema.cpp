#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stack/document.hpp"

namespace strata::stack {

using nlohmann::ordered_json;
using options::option_kind;
using options::option_row;

namespace {

using schemas = std::vector<ordered_json>;

// The reader takes each value as text. Where it has variables, the schema knows no more of it.
constexpr auto text_pattern = R"(^([^$]|\$\$|\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\})*$)";
constexpr auto variable_pattern = R"(\$\{)";
constexpr auto count_pattern = "^[0-9]+$";
constexpr auto size_pattern = R"(^([0-9]+\.?[0-9]*|\.[0-9]+)(B|[KMG](iB)?)?$)";
constexpr auto duration_pattern = R"(^([0-9]+\.?[0-9]*|\.[0-9]+)(us|ms|s|m|h)?$)";
constexpr auto daemon_pattern = "^([^ ,=]+|[^ ,=]+=[^ ,]*(,[^ ,=]+=[^ ,]*)*)$";

ordered_json any_of(const schemas& all) { return {{"anyOf", all}}; }

ordered_json text_schema() {
  return {{"type", {"string", "number", "boolean"}}, {"pattern", text_pattern}};
}

ordered_json text_with(const char* pattern) { return {{"type", "string"}, {"pattern", pattern}}; }

ordered_json text_with_variables() {
  auto schema = text_with(variable_pattern);
  schema["allOf"] = schemas{{{"pattern", text_pattern}}};
  return schema;
}

ordered_json list_of(const ordered_json& elements) {
  return {{"type", "array"}, {"items", elements}};
}

// YAML reads some choices as numbers or booleans, unless they have quotes.
ordered_json choice_schema(const option_row& row) {
  auto choices = ordered_json::array();
  for (const auto each : options::split_choices(row.choices)) {
    choices.push_back(each);
    auto plain = ordered_json::parse(each, nullptr, false);
    if (plain.is_number() || plain.is_boolean()) choices.push_back(std::move(plain));
  }
  return {{"enum", std::move(choices)}};
}

ordered_json number_schema(const option_row& row) {
  const bool is_whole = row.kind != option_kind::bytes;
  ordered_json schema{{"type", is_whole ? "integer" : "number"}, {"minimum", row.min}};
  if (row.kind == option_kind::port) {
    schema["maximum"] = 65535;
  } else if (row.max != UINT64_MAX) {
    schema["maximum"] = row.max;
  }
  return schema;
}

/// The forms of a value.
schemas value_schemas(const option_row& row) {
  switch (row.kind) {
    case option_kind::flag: return {{{"enum", {true, false, "true", "false"}}}};
    case option_kind::count:
    case option_kind::port: return {number_schema(row), text_with(count_pattern)};
    case option_kind::bytes: return {number_schema(row), text_with(size_pattern)};
    case option_kind::seconds:
      return {{{"type", "number"}, {"minimum", 0}}, text_with(duration_pattern)};
    case option_kind::choice: return {choice_schema(row)};
    case option_kind::list: {
      auto list = list_of(text_schema());
      list["maxItems"] = 64;
      return {std::move(list), text_schema()};
    }
    case option_kind::text:
    case option_kind::secret: break;
  }
  return {text_schema()};
}

// Without a value, an option has its default.
ordered_json option_schema(const option_row& row) {
  auto forms = value_schemas(row);
  const bool is_text = forms.back() == text_schema();
  if (!is_text) forms.push_back(text_with_variables());
  forms.push_back({{"type", "null"}});
  auto schema = any_of(forms);
  schema["description"] = row.help;
  if (!row.default_text.empty()) schema["default"] = row.default_text;
  return schema;
}

ordered_json start_schema() {
  auto schema = any_of({{{"enum", {true, false, "true", "false"}}}, text_with_variables()});
  schema["default"] = true;
  schema["description"] = "false: it is left started or stopped as it is";
  return schema;
}

ordered_json needs_schema() {
  auto schema = any_of({text_schema(), list_of(text_schema())});
  schema["description"] = "runtimes of the stack that must exist before it";
  return schema;
}

ordered_json daemons_schema() {
  auto number = text_schema();
  number["type"] = {"number", "boolean"};
  auto daemon = any_of({text_with(daemon_pattern), text_with_variables(), number});
  daemon["pattern"] = text_pattern;
  auto list = list_of(daemon);
  list["minItems"] = 1;
  auto schema = any_of({std::move(daemon), std::move(list)});
  schema["description"] =
      "daemons of the cluster that have it: names, globs, or labels as KEY=VALUE; without it, the "
      "daemon that the command speaks to";
  return schema;
}

ordered_json runtime_schema(const reading& reading, const std::string& type) {
  ordered_json properties{{"type", {{"const", type}}},
                          {"start", start_schema()},
                          {"depends_on", needs_schema()},
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
  // A type that a variable names may have any options.
  references.push_back({{"type", "object"},
                        {"properties", {{"type", text_with_variables()}}},
                        {"required", {"type"}}});
  auto name = text_schema();
  name["minLength"] = 1;
  name["description"] = "name of the stack";
  const ordered_json map_or_nothing = {"object", "null"};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "a stack of strata"},
          {"type", map_or_nothing},
          {"properties",
           {{"name", std::move(name)},
            {"variables",
             {{"description", "defaults of variables, which --set and the environment override"},
              {"type", map_or_nothing},
              {"additionalProperties", text_schema()}}},
            {"runtimes",
             {{"type", map_or_nothing},
              {"additionalProperties", {{"oneOf", std::move(references)}}}}}}},
          {"patternProperties", {{"^x-", ordered_json::object()}}},
          {"additionalProperties", false},
          {"$defs", std::move(definitions)}};
}

}  // namespace strata::stack
