#include "stack/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "text/nearest.hpp"

namespace strata::stack {

using nlohmann::json;
using options::option_kind;
using options::option_row;

namespace {

constexpr std::string_view masked_secret = "********";

const option_row* find_row(std::span<const option_row> rows, std::string_view key) {
  const auto found = std::ranges::find(rows, key, &option_row::key);
  return found == rows.end() ? nullptr : &*found;
}

std::unexpected<error> no_such_option(std::span<const option_row> rows, std::string_view type,
                                      const std::string& key) {
  std::vector<std::string> known;
  for (const auto& row : rows) known.emplace_back(row.key);
  return failure(
      errc::not_supported, fmt::format("set option '{}'", key),
      fmt::format("a {} has no option '{}'{}", type, key, text::did_you_mean(key, known)));
}

bool is_written_as_text(option_kind kind) {
  return kind == option_kind::flag || kind == option_kind::count || kind == option_kind::port ||
         kind == option_kind::bytes || kind == option_kind::seconds;
}

void make_absolute(json& path, const std::string& folder) {
  const auto* const text = path.get_ptr<const json::string_t*>();
  if (text == nullptr || text->empty() || text->starts_with('/')) return;
  auto whole = std::filesystem::path(folder + "/" + *text).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  path = whole.string();
}

// A value that cannot be converted is left as it is, for `check_option` to reject.
json value_for(const option_row& row, json value, const std::string& folder) {
  if (is_written_as_text(row.kind) && value.is_string()) {
    auto parsed = options::parse_option(row, value.get_ref<const std::string&>());
    if (parsed) return std::move(*parsed);
  }
  if (row.kind == option_kind::list) {
    // Lua has one form for an empty list and an empty table of names.
    if (value.is_object() && value.empty()) value = json::array();
    if (value.is_string()) {
      value = options::list_elements(row, value.get_ref<const std::string&>());
    } else if (!value.is_array()) {
      value = json::array({std::move(value)});
    }
  }
  if (!options::is_path(row)) return value;
  if (!value.is_array()) {
    make_absolute(value, folder);
    return value;
  }
  for (auto& path : value) make_absolute(path, folder);
  return value;
}

bool is_equal(const option_row& row, const json& present, const json& desired) {
  if (desired.is_null()) return is_default(row, present);
  // The daemon masks secrets, so a desired one cannot be compared.
  if (row.kind == option_kind::secret && present == masked_secret) return true;
  return present == desired;
}

}  // namespace

bool is_default(const option_row& row, const json& value) {
  if (row.default_text.empty()) {
    const auto* const text = value.get_ptr<const json::string_t*>();
    return value == false || (text != nullptr ? text->empty() : value.empty());
  }
  const auto parsed = options::parse_option(row, row.default_text);
  return parsed && (value == *parsed || value == json::array({*parsed}));
}

result<json> normalised(std::span<const option_row> rows, std::string_view type, json options,
                        const std::string& folder) {
  if (!options.is_object()) {
    return failure(errc::invalid_argument, "read the options", "they are not a JSON object");
  }
  for (auto& [key, value] : options.items()) {
    const auto* const row = find_row(rows, key);
    if (row == nullptr) return no_such_option(rows, type, key);
    if (value.is_null()) continue;
    value = value_for(*row, std::move(value), folder);
    if (auto checked = options::check_option(*row, value); !checked) {
      return std::unexpected(checked.error());
    }
  }
  return options;
}

result<plan> plan_for(std::span<const option_row> rows, const desired_runtime& desired,
                      const std::optional<present_runtime>& present) {
  if (!present) {
    return plan{.is_creation = true, .changes = desired.options, .is_start = desired.runs};
  }
  const auto& [name, type, options, runs] = desired;
  if (present->type != type) {
    return failure(errc::already_exists, fmt::format("make '{}' a {}", name, type),
                   fmt::format("'{}' already exists and is a {}: remove it or choose another name",
                               name, present->type));
  }
  plan plan{.is_start = runs && !present->is_running};
  for (const auto& [key, value] : options.items()) {
    const auto* const row = find_row(rows, key);
    if (row == nullptr) return no_such_option(rows, type, key);
    const auto held = present->options.find(key);
    if (is_equal(*row, held == present->options.end() ? json() : *held, value)) continue;
    plan.changes[key] = value;
    if (row->needs_restart && present->is_running) plan.waiting.push_back(key);
  }
  return plan;
}

}  // namespace strata::stack
