// Output of verbs: JSON values as aligned columns, or unchanged.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/outcome.hpp"

namespace strata::cli {

enum class unit : std::uint8_t {
  none,
  bytes,
  seconds,
  microseconds,
  milliseconds,
  per_second,
  total,  ///< of an object whose members are counts
};

/// A possible column of a table, and where its value is in the API's object.
struct column {
  std::string_view key;      ///< name for `--columns`; the heading is its upper case
  std::string_view pointer;  ///< RFC 6901: `/connections/now`
  cli::unit unit = unit::none;
  bool by_default = true;
};

/// Selects the columns that `names` ("a,b,c") lists, in its order; the default ones if it is empty.
/// Errors: misused, with the nearest name.
[[nodiscard]] outcome<std::vector<column>> select_columns(std::span<const column> all,
                                                          std::string_view names);

/// A value as a cell: members of lists and objects joined by commas, "-" for an empty or missing
/// value.
[[nodiscard]] std::string format_cell(const nlohmann::json& value, unit unit);

struct table_form {
  bool has_header = true;
  std::size_t longest_cell = SIZE_MAX;  ///< in columns; longer cells end with "…"
};

/// Headings and one row per object, with two spaces between columns and none at the end. A column
/// of numbers is aligned to the right.
[[nodiscard]] std::string render_table(std::span<const column> columns,
                                       const nlohmann::json& objects, const table_form& form = {});

/// The objects with only the top-level members that the columns use.
[[nodiscard]] nlohmann::json keep_columns(std::span<const column> columns,
                                          const nlohmann::json& objects);

/// One object as a table of FIELD and VALUE, nested members as `a.b`. `unit_of` returns the unit of
/// a field, given its full name.
[[nodiscard]] std::string render_object(const nlohmann::json& object,
                                        unit (*unit_of)(std::string_view field,
                                                        const nlohmann::json& object),
                                        const table_form& form = {});

/// The lowest layer: rows of cells as lines. A column is aligned to the left unless `to_the_right`
/// is set for it.
[[nodiscard]] std::string align(const std::vector<std::vector<std::string>>& rows,
                                const std::vector<bool>& to_the_right = {});

/// A member as text; empty if it is missing or no string. Never throws.
[[nodiscard]] std::string text_at(const nlohmann::json& object, std::string_view key);
/// A member as a whole number; 0 if it is missing or none. Never throws.
[[nodiscard]] std::uint64_t count_at(const nlohmann::json& object, std::string_view key);

}  // namespace strata::cli
