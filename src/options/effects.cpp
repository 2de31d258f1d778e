#include "options/effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace strata::options {

namespace {

std::string_view key_of(std::string_view condition) {
  return condition.substr(0, condition.find('='));
}

std::string_view value_of(std::string_view condition) {
  const auto sign = condition.find('=');
  return sign == std::string_view::npos ? std::string_view{} : condition.substr(sign + 1);
}

const option_row* find_row(std::span<const option_row> rows, std::string_view key) {
  const auto found = std::ranges::find(rows, key, &option_row::key);
  return found == rows.end() ? nullptr : &*found;
}

bool is_default(const option_row& row, const nlohmann::json& value) {
  if (value.is_null()) return true;
  if (row.default_text.empty() && value.is_string()) {
    return value.get_ref<const std::string&>().empty();
  }
  if (row.default_text.empty()) return value == false || value.empty();
  const auto usual = parse_option(row, row.default_text);
  return usual && *usual == value;
}

bool holds(std::span<const option_row> rows, const nlohmann::json& all,
           std::string_view condition) {
  const auto* const row = find_row(rows, key_of(condition));
  if (row == nullptr || !all.contains(row->key)) return true;
  const auto& value = all.at(std::string(row->key));
  const auto wanted = value_of(condition);
  return wanted.empty() ? !is_default(*row, value) : value == wanted;
}

result<void> check_effect(std::span<const option_row> rows, const option_row& row,
                          const nlohmann::json& all, std::span<const std::string_view> carried) {
  const auto conditions = split_choices(row.only_with);
  const auto is_met = [&](std::string_view each) { return holds(rows, all, each); };
  if (!conditions.empty() && std::ranges::none_of(conditions, is_met)) {
    const auto needed = condition_text(row.only_with);
    return failure(errc::invalid_argument, fmt::format("use {}", long_flag(row)),
                   fmt::format("it has no effect without {}", needed),
                   fmt::format("add {} or leave it out", needed));
  }
  const auto words = split_choices(row.only_on);
  const auto is_carried = [&](std::string_view each) {
    return std::ranges::find(carried, each) != carried.end();
  };
  if (!words.empty() && std::ranges::none_of(words, is_carried)) {
    return failure(
        errc::invalid_argument, fmt::format("use {}", long_flag(row)),
        fmt::format("it has no effect: no endpoint carries {}", fmt::join(words, " or ")),
        "add such an endpoint or leave it out");
  }
  return {};
}

}  // namespace

std::string condition_text(std::string_view only_with) {
  std::vector<std::string> flags;
  for (const auto each : split_choices(only_with)) {
    auto flag = long_flag({.key = key_of(each)});
    if (const auto value = value_of(each); !value.empty()) flag += " " + std::string(value);
    flags.push_back(std::move(flag));
  }
  return fmt::format("{}", fmt::join(flags, " or "));
}

result<void> check_effects(std::span<const option_row> rows, const nlohmann::json& given,
                           const nlohmann::json& all, std::span<const std::string_view> carried) {
  for (const auto& row : rows) {
    const auto named = given.find(row.key);
    if (named == given.end() || is_default(row, *named)) continue;
    if (auto checked = check_effect(rows, row, all, carried); !checked) return checked;
  }
  return {};
}

}  // namespace strata::options
