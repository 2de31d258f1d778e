#include "daemon/api/openapi.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/api/openapi_schemas.hpp"
#include "runtime/types/types.hpp"
#include "text/yaml_text.hpp"

namespace strata::daemon {

using json = nlohmann::ordered_json;

namespace {

constexpr const char* about =
    "HTTP/1.1 and JSON on the daemon's Unix socket. `curl --unix-socket $STRATA_SOCKET "
    "http://strata/v1/runtimes` works as well as the CLI. The socket is open to root and the "
    "daemon's user (mode 0600), and to a group that `--socket-group` names (mode 0660). Each "
    "caller has a role: read, operate or admin; each role includes those before it. `x-role` is "
    "the role that an operation needs. Every error is the JSON object `Error` below. Streams are "
    "application/x-ndjson, with a JSON document on each line; a client that accepts "
    "text/event-stream gets server-sent events, each with a JSON document as its data, and can "
    "resume after a break with Last-Event-ID.";

constexpr const char* about_errors =
    "400 invalid_argument, malformed; 403 permission_denied; 404 not_found; 409 already_exists, "
    "conflict; 413 limit_exceeded, when the request is too large; 501 not_supported; 503 "
    "limit_exceeded, when the process or the system has no descriptors, threads or memory left; "
    "504 timed_out; 507 no_space; 500 otherwise";

constexpr const char* about_forbidden =
    "permission_denied: the caller's role is lower than `x-role`; nothing is done";

json reference(std::string_view kind, std::string_view name) {
  return {{"$ref", "#/components/" + std::string(kind) + "/" + std::string(name)}};
}

/// The schema of that name; plain bytes if the name is empty.
json schema_of(std::string_view name, const char* format) {
  if (name.ends_with("[]")) {
    name.remove_suffix(2);
    return {{"type", "array"}, {"items", reference("schemas", name)}};
  }
  if (!name.empty()) return reference("schemas", name);
  json schema = {{"type", "string"}};
  if (*format != '\0') schema["format"] = format;
  return schema;
}

json type_of(const options::option_row& row) {
  using enum options::option_kind;
  switch (row.kind) {
    case flag: return {{"type", "boolean"}};
    case port: return {{"type", "integer"}, {"minimum", 0}, {"maximum", 65535}};
    case count:
    case bytes: {
      json type = {{"type", "integer"}, {"minimum", row.min}};
      if (row.max != UINT64_MAX) type["maximum"] = row.max;
      return type;
    }
    case seconds: return {{"type", "number"}, {"minimum", 0}};
    case text: return {{"type", "string"}};
    case secret: return {{"type", "string"}, {"format", "password"}};
    case choice: return {{"type", "string"}, {"enum", options::split_choices(row.choices)}};
    case list: return {{"type", "array"}, {"items", {{"type", "string"}}}};
  }
  return {};
}

json parameter(std::string_view name, const char* place, json schema) {
  json made = {{"name", name}, {"in", place}};
  if (std::string_view(place) == "path") made["required"] = true;
  made["schema"] = std::move(schema);
  return made;
}

json parameters_of(const route_row& row) {
  auto parameters = json::array();
  for (const auto& each : row.parameters) {
    auto made = parameter(each.key, "query", type_of(each));
    made["description"] = each.help;
    if (parameters.size() < row.required) made["required"] = true;
    parameters.push_back(std::move(made));
  }
  if (row.has_tail) {
    parameters.push_back(reference("parameters", "tail"));
    parameters.push_back(reference("parameters", "follow"));
  }
  if (row.has_interval) {
    parameters.push_back(reference("parameters", "follow"));
    parameters.push_back(reference("parameters", "interval"));
  }
  if (row.has_timeout) parameters.push_back(reference("parameters", "timeout"));
  return parameters;
}

const char* meaning_of(int status) {
  switch (status) {
    case 101: return "the WebSocket is open";
    case 201: return "created";
    case 204: return "gone";
    default: return "done";
  }
}

json operation_of(const route_row& row) {
  json operation = {{"summary", row.summary}, {"x-role", runtime::name_of(row.needed)}};
  if (!row.description.empty()) operation["description"] = row.description;
  if (auto parameters = parameters_of(row); !parameters.empty()) {
    operation["parameters"] = std::move(parameters);
  }
  if (!row.body_type.empty()) {
    const std::string type(row.body_type);
    operation["requestBody"]["content"][type]["schema"] = schema_of(row.body, "binary");
  }
  auto& answer = operation["responses"][std::to_string(row.status)];
  answer["description"] = meaning_of(row.status);
  if (!row.answer_type.empty()) {
    answer["content"][std::string(row.answer_type)]["schema"] = schema_of(row.answer, "");
  }
  // The document is each event's data, or each line.
  if (row.has_interval || row.has_tail || row.answer_type == ndjson) {
    for (const auto* const type : {ndjson, event_stream}) {
      answer["content"][type]["schema"] = schema_of(row.answer, "");
    }
  }
  if (row.needed != runtime::role::read) {
    operation["responses"]["403"] = reference("responses", "Forbidden");
  }
  if (row.may_fail) operation["responses"]["default"] = reference("responses", "Error");
  return operation;
}

json paths_of(std::span<const route_row> routes) {
  json paths;
  for (const auto& row : routes) {
    auto& path = paths[std::string(row.path)];
    if (row.path.contains("{name}")) path["parameters"] = {reference("parameters", "name")};
    std::string method(row.method);
    for (auto& letter : method) letter = static_cast<char>(letter - 'A' + 'a');
    path[method] = operation_of(row);
  }
  return paths;
}

json options_of(const runtime::type_row& type) {
  json schema = {{"type", "object"}, {"description", type.summary}};
  auto& properties = schema["properties"];
  for (const auto& row : type.rows()) {
    auto property = type_of(row);
    if (!row.default_text.empty()) {
      if (const auto value = parse_option(row, row.default_text)) property["default"] = *value;
    }
    property["description"] = row.help;
    if (row.needs_restart) property["x-needs-restart"] = true;
    properties[std::string(row.key)] = std::move(property);
  }
  return schema;
}

json latency_schema() {
  json schema = {{"type", "object"}};
  schema["properties"]["count"] = {{"type", "integer"}};
  for (const auto* const each : {"sum_ms", "p50_ms", "p90_ms", "p99_ms", "max_ms"}) {
    schema["properties"][each] = {{"type", "number"}};
  }
  schema["properties"]["within_ms"] = {{"type", "object"},
                                       {"additionalProperties", {{"type", "integer"}}},
                                       {"description", "number that took at most this time"}};
  return schema;
}

json figure_schema(const options::figure_row& row) {
  const json number = {{"type", row.kind == options::figure_kind::rate ? "number" : "integer"}};
  auto schema = number;
  if (!row.cases.empty()) {
    schema = {{"type", "object"}};
    for (const auto& name : row.cases) schema["properties"][std::string(name)] = number;
  }
  if (row.kind == options::figure_kind::latency) schema = latency_schema();
  schema["description"] = row.help;
  return schema;
}

json answer_schema(const runtime::answer_row& row) {
  using enum runtime::answer_kind;
  json schema;
  switch (row.kind) {
    case text:
      schema = {{"type", "string"}};
      if (!row.choices.empty()) schema["enum"] = options::split_choices(row.choices);
      break;
    case count:
    case bytes: schema = {{"type", "integer"}}; break;
    case seconds: schema = {{"type", "number"}}; break;
    case flag: schema = {{"type", "boolean"}}; break;
    case texts: schema = {{"type", "array"}, {"items", {{"type", "string"}}}}; break;
    case counts:
      schema = {{"type", "object"}, {"additionalProperties", {{"type", "integer"}}}};
      break;
    case latency: schema = latency_schema(); break;
  }
  schema["description"] = row.help;
  return schema;
}

json answer_schema(const runtime::operation_row& row) {
  json schema = {{"type", "object"}};
  for (const auto& each : row.answer) {
    schema["properties"][std::string(each.key)] = answer_schema(each);
  }
  return schema;
}

json detail_schema(const runtime::detail_row& kind) {
  json thing = {{"type", "object"}};
  for (const auto& label : kind.labels) {
    thing["properties"][std::string(label)] = {{"type", "string"}};
  }
  for (const auto& row : kind.figures) {
    thing["properties"][std::string(row.key)] = figure_schema(row);
  }
  return {{"type", "array"}, {"items", thing}};
}

json statistics_schema() {
  json schema = {{"type", "object"},
                 {"properties",
                  {{"name", {{"type", "string"}}},
                   {"type", {{"type", "string"}}},
                   {"state", {{"type", "string"}}},
                   {"uptime_s", {{"type", "number"}}}}}};
  for (const auto& row : runtime::all_figures()) {
    auto* at = &schema;
    auto key = row.key;
    for (auto dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
      at = &(*at)["properties"][std::string(key.substr(0, dot))];
      (*at)["type"] = "object";
      key.remove_prefix(dot + 1);
    }
    (*at)["properties"][std::string(key)] = figure_schema(row);
  }
  for (const auto& type : runtime::types()) {
    if (type.details == nullptr) continue;
    for (const auto& each : type.details()) {
      schema["properties"][std::string(each.key)] = detail_schema(each);
    }
  }
  return schema;
}

json schemas() {
  auto all = fixed_schemas();
  auto any = json::array();
  for (const auto& type : runtime::types()) {
    auto name = std::string(type.name) + "Options";
    name.front() = static_cast<char>(name.front() - 'a' + 'A');
    all[name] = options_of(type);
    any.push_back(reference("schemas", name));
  }
  for (const auto& [row, types] : runtime::all_operations()) {
    if (!row->answer.empty()) all[std::string(row->schema)] = answer_schema(*row);
  }
  all["Options"] = {{"description", "the options of the runtime's type"}, {"anyOf", any}};
  all["Stats"] = statistics_schema();
  return all;
}

}  // namespace

std::string openapi_text(std::span<const route_row> routes) {
  json document = {
      {"openapi", "3.0.3"},
      {"info", {{"title", "strata control API"}, {"version", "1"}, {"description", about}}},
      {"paths", paths_of(routes)}};
  auto& components = document["components"];
  components["parameters"] = {
      {"name", parameter("name", "path", {{"type", "string"}})},
      {"tail",
       parameter("tail", "query", {{"type", "integer"}, {"default", 1000}, {"maximum", 1000}})},
      {"follow", parameter("follow", "query", {{"type", "boolean"}, {"default", false}})},
      {"interval", parameter("interval", "query",
                             {{"type", "string"}, {"default", "1s"}, {"example", "500ms"}})},
      {"timeout", parameter("timeout", "query", {{"type", "string"}, {"example", "2.5s"}})}};
  for (const auto& [name, description] :
       {std::pair("Error", about_errors), std::pair("Forbidden", about_forbidden)}) {
    components["responses"][name] = {
        {"description", description},
        {"content", {{"application/json", {{"schema", reference("schemas", "Error")}}}}}};
  }
  components["schemas"] = schemas();
  return "# Made from the tables of routes, options and figures, as "
         "src/daemon/api/openapi_test.cpp describes.\n" +
         text::to_yaml(document);
}

}  // namespace strata::daemon
