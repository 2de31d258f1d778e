#include "daemon/api/types_json.hpp"

#include <nlohmann/json.hpp>

#include "runtime/types/types.hpp"

namespace strata::daemon {

namespace {

std::string_view name_of(options::option_kind kind) {
  using enum options::option_kind;
  switch (kind) {
    case flag: return "flag";
    case count: return "count";
    case port: return "port";
    case bytes: return "bytes";
    case seconds: return "seconds";
    case text: return "text";
    case secret: return "secret";
    case choice: return "choice";
    case list: return "list";
  }
  return {};
}

std::string_view name_of(options::figure_kind kind) {
  using enum options::figure_kind;
  switch (kind) {
    case counter: return "counter";
    case peak: return "peak";
    case gauge: return "gauge";
    case rate: return "rate";
    case latency: return "latency";
  }
  return {};
}

std::string_view name_of(options::figure_unit unit) {
  using enum options::figure_unit;
  switch (unit) {
    case none: return "";
    case bytes: return "bytes";
    case microseconds: return "microseconds";
  }
  return {};
}

std::string_view name_of(runtime::answer_kind kind) {
  using enum runtime::answer_kind;
  switch (kind) {
    case text: return "text";
    case count: return "count";
    case flag: return "flag";
    case texts: return "texts";
    case counts: return "counts";
    case bytes: return "bytes";
    case seconds: return "seconds";
    case latency: return "latency";
  }
  return {};
}

nlohmann::json option_json(const options::option_row& row) {
  nlohmann::json option = {{"key", row.key},
                           {"kind", name_of(row.kind)},
                           {"value_name", row.value_name},
                           {"default", nullptr},
                           {"help", row.help},
                           {"choices", options::split_choices(row.choices)},
                           {"needs_restart", row.needs_restart}};
  if (!row.default_text.empty()) {
    if (auto value = options::parse_option(row, row.default_text)) option["default"] = *value;
  }
  return option;
}

nlohmann::json figure_json(const options::figure_row& row) {
  return {{"key", row.key},
          {"kind", name_of(row.kind)},
          {"unit", name_of(row.unit)},
          {"help", row.help},
          {"metric", row.metric}};
}

nlohmann::json answer_json(const runtime::answer_row& row) {
  return {{"key", row.key},
          {"kind", name_of(row.kind)},
          {"help", row.help},
          {"choices", options::split_choices(row.choices)}};
}

template <class Rows, class Shown>
nlohmann::json each_of(const Rows& rows, Shown shown) {
  auto array = nlohmann::json::array();
  for (const auto& row : rows) array.push_back(shown(row));
  return array;
}

nlohmann::json operation_json(const runtime::operation_row& row) {
  return {{"name", row.name},
          {"method", row.method},
          {"path", "/v1/runtimes/{name}/" + std::string(row.name)},
          {"summary", row.summary},
          {"parameters", each_of(row.parameters, option_json)},
          {"required", row.required},
          {"body_type", row.body_type},
          {"takes_timeout", row.timeout_s > 0},
          {"answer", each_of(row.answer, answer_json)},
          {"is_list", row.is_list},
          {"has_session", row.open != nullptr},
          {"role", runtime::name_of(row.needed)}};
}

}  // namespace

nlohmann::json types_json() {
  return each_of(runtime::types(), [](const runtime::type_row& type) {
    return nlohmann::json{{"name", type.name},
                          {"summary", type.summary},
                          {"options", each_of(type.rows(), option_json)},
                          {"figures", each_of(type.figures(), figure_json)},
                          {"operations", each_of(type.operations(), operation_json)}};
  });
}

}  // namespace strata::daemon
