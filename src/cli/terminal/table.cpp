#include "cli/terminal/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/nearest.hpp"
#include "text/readable.hpp"
#include "text/word.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

std::string upper(std::string_view key) {
  std::string heading(key);
  for (auto& letter : heading) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return heading;
}

const json& value_at(const json& object, std::string_view pointer) {
  static const json absent;
  const json::json_pointer path{std::string(pointer)};
  return object.contains(path) ? object.at(path) : absent;
}

std::string format_number(double value, unit unit) {
  switch (unit) {
    case unit::bytes: return text::format_size(value);
    case unit::seconds: return text::format_duration(value);
    case unit::microseconds: return text::format_duration(value / 1e6);
    case unit::milliseconds:
      return value < 10 ? fmt::format("{:.2g}ms", value) : text::format_duration(value / 1e3);
    case unit::per_second: return fmt::format("{:.1f}/s", value);
    case unit::total:
    case unit::none: break;
  }
  return fmt::format("{}", value);
}

/// "a, b" for a list, "key 1, other 2" for an object.
std::string join(const json& members) {
  std::string joined;
  for (const auto& [key, member] : members.items()) {
    if (!joined.empty()) joined += ", ";
    if (members.is_object()) joined += text::printable(key) + " ";
    joined += format_cell(member, unit::none);
  }
  return joined;
}

std::string format_total(const json& counts) {
  std::uint64_t total = 0;
  for (const auto& count : counts) {
    if (count.is_number_unsigned()) total += count.get<std::uint64_t>();
  }
  return fmt::format("{}", total);
}

std::string or_dash(const std::string& cell) { return cell.empty() ? "-" : cell; }

using field_row = std::vector<std::string>;

void flatten(const json& value, const std::string& name, const json& root,
             unit (*unit_of)(std::string_view, const json&), std::vector<field_row>& rows) {
  const bool has_parts = value.is_object() || (value.is_array() && !value.empty() &&
                                               std::ranges::all_of(value, &json::is_object));
  if (!has_parts) {
    rows.push_back({text::printable(name), format_cell(value, unit_of(name, root))});
    return;
  }
  for (const auto& [key, member] : value.items()) {
    flatten(member, name.empty() ? key : fmt::format("{}.{}", name, key), root, unit_of, rows);
  }
}

/// The most important fields come first; the rest is in alphabetical order.
bool stands_before(const field_row& left, const field_row& right) {
  constexpr std::string_view leaders[] = {"name", "type", "state"};
  const auto rank = [&](const field_row& row) { return std::ranges::find(leaders, row.front()); };
  return rank(left) != rank(right) ? rank(left) < rank(right) : left.front() < right.front();
}

}  // namespace

outcome<std::vector<column>> select_columns(std::span<const column> all, std::string_view names) {
  std::vector<column> selected;
  if (names.empty()) {
    std::ranges::copy_if(all, std::back_inserter(selected), &column::by_default);
    return selected;
  }
  while (!names.empty()) {
    const auto comma = names.find(',');
    const auto name = text::in_small_letters(names.substr(0, comma));  // headings are in upper case
    names = comma == std::string_view::npos ? std::string_view{} : names.substr(comma + 1);
    const auto found = std::ranges::find(all, name, &column::key);
    if (found != all.end()) {
      selected.push_back(*found);
      continue;
    }
    std::vector<std::string> keys;
    for (const auto& known : all) keys.emplace_back(known.key);
    return refuse(exit_misused, fmt::format("there is no column '{}'{}; there are {}", name,
                                            text::did_you_mean(name, keys), fmt::join(keys, ", ")));
  }
  return selected;
}

std::string format_cell(const json& value, unit unit) {
  switch (value.type()) {
    case json::value_t::string:
      return or_dash(text::printable(value.get_ref<const std::string&>()));
    case json::value_t::boolean: return value.get<bool>() ? "yes" : "no";
    case json::value_t::number_integer:
    case json::value_t::number_unsigned:
      if (unit == unit::none) return value.dump();
      [[fallthrough]];
    case json::value_t::number_float: return format_number(value.get<double>(), unit);
    case json::value_t::array: return or_dash(join(value));
    case json::value_t::object:
      return unit == unit::total ? format_total(value) : or_dash(join(value));
    default: return "-";
  }
}

std::string render_table(std::span<const column> columns, const json& objects,
                         const table_form& form) {
  std::vector<std::vector<std::string>> rows(form.has_header ? 1 : 0);
  std::vector<bool> to_the_right;
  for (const auto& column : columns) {
    if (form.has_header) rows.front().push_back(upper(column.key));
    to_the_right.push_back(
        !objects.empty() && std::ranges::all_of(objects, [&](const json& object) {
          const auto& value = value_at(object, column.pointer);
          return value.is_number() || (value.is_object() && column.unit == unit::total);
        }));
  }
  for (const auto& object : objects) {
    auto& row = rows.emplace_back();
    for (const auto& column : columns) {
      const auto cell = format_cell(value_at(object, column.pointer), column.unit);
      row.push_back(text::shortened(cell, form.longest_cell));
    }
  }
  return align(rows, to_the_right);
}

json keep_columns(std::span<const column> columns, const json& objects) {
  auto kept = json::array();
  for (const auto& object : objects) {
    auto& next = kept.emplace_back(json::object());
    for (const auto& column : columns) {
      const std::string member(column.pointer.substr(1, column.pointer.find('/', 1) - 1));
      next[member] = object.is_object() && object.contains(member) ? object[member] : json{};
    }
  }
  return kept;
}

std::string render_object(const json& object, unit (*unit_of)(std::string_view, const json&),
                          const table_form& form) {
  std::vector<field_row> rows;
  flatten(object, "", object, unit_of, rows);
  std::ranges::sort(rows, stands_before);
  if (form.has_header) rows.insert(rows.begin(), {"FIELD", "VALUE"});
  return align(rows);
}

std::string align(const std::vector<std::vector<std::string>>& rows,
                  const std::vector<bool>& to_the_right) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t at = 0; at < row.size(); ++at) {
      widths[at] = std::max(widths[at], text::width_of(row[at]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t at = 0; at < row.size(); ++at) {
      const std::string padding(widths[at] - text::width_of(row[at]), ' ');
      if (at > 0) text += "  ";
      const bool right = at < to_the_right.size() && to_the_right[at];
      text += right ? padding + row[at] : row[at] + padding;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string text_at(const json& object, std::string_view key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

std::uint64_t count_at(const json& object, std::string_view key) {
  if (!object.is_object()) return 0;
  const auto found = object.find(key);
  const bool is_count = found != object.end() && found->is_number_unsigned();
  return is_count ? found->get<std::uint64_t>() : 0;
}

}  // namespace strata::cli
