// Objects for people or programs: as a table, as names, or as JSON, as requested.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "cli/line/invocation.hpp"
#include "cli/terminal/table.hpp"
#include "options/option_table.hpp"

namespace strata::cli {

/// Prints `value`, indented, with a line end.
void print_json(const nlohmann::json& value);

/// Prints the names of the objects, one per line, or as a JSON array.
void print_names(const invocation& call, const nlohmann::json& objects);

/// `--no-header`, for verbs that show a table.
[[nodiscard]] options::option_row no_header_row();
/// `--columns` and `--no-header`, for verbs whose columns can be chosen.
[[nodiscard]] std::vector<options::option_row> table_flags();

/// The form of the call's tables. Cells are truncated only on a terminal, so that one long cell
/// does not make every line long, and only if the columns were not selected by name.
[[nodiscard]] table_form form_of_list(const invocation& call);
[[nodiscard]] table_form form_of_object(const invocation& call);

/// Shows a list of objects as names, JSON or a table.
void show_list(const invocation& call, std::span<const column> columns,
               const nlohmann::json& objects);

}  // namespace strata::cli
