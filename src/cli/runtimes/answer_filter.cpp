#include "cli/runtimes/answer_filter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "text/nearest.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

std::string text_of(const json& value) {
  if (value.is_null()) return {};
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

outcome<answer_filter> answer_filter::parse(const json& value, std::span<const column> columns) {
  std::vector<std::string> fields;
  for (const auto& each : columns) fields.emplace_back(each.key);
  answer_filter filter;
  for (const auto& each : value) {
    const auto text = each.get<std::string>();
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    if (equals == std::string::npos || name.empty()) {
      return refuse(exit_misused,
                    fmt::format("--filter takes FIELD=VALUE, not '{}'; the fields are {}", text,
                                fmt::join(fields, ", ")));
    }
    const auto found = std::ranges::find(columns, name, &column::key);
    if (found == columns.end()) {
      return refuse(exit_misused,
                    fmt::format("there is no field '{}' to filter by{}; there are {}", name,
                                text::did_you_mean(name, fields), fmt::join(fields, ", ")));
    }
    filter.conditions_.push_back(
        {json::json_pointer(std::string(found->pointer)), text.substr(equals + 1)});
  }
  return filter;
}

bool answer_filter::takes(const json& object) const {
  return std::ranges::all_of(conditions_, [&](const condition& condition) {
    const auto value = object.contains(condition.field) ? object.at(condition.field) : json();
    if (!value.is_array()) return text_of(value) == condition.value;
    if (value.empty()) return condition.value.empty();
    return std::ranges::any_of(
        value, [&](const json& element) { return text_of(element) == condition.value; });
  });
}

}  // namespace strata::cli
