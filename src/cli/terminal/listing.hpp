// Objects for a person or a program: as a table, as names, or as JSON, whatever was asked for.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "cli/line/invocation.hpp"
#include "cli/terminal/table.hpp"
#include "options/option_table.hpp"

namespace strata::cli {

/// `value`, indented, with a line end.
void print_json(const nlohmann::json& value);

/// The names of the objects, one a line, or as a JSON array.
void print_names(const invocation& call, const nlohmann::json& objects);

/// `--no-header`, for verbs that show a table.
[[nodiscard]] options::option_row no_header_row();

/// As the call wants its tables. Cells are cut on a terminal alone, so that a long one does not
/// make every line of a list long, and only where the columns were not asked for by name.
[[nodiscard]] table_form form_of_list(const invocation& call);
[[nodiscard]] table_form form_of_object(const invocation& call);

/// A list of objects as names, JSON or a table.
void show_list(const invocation& call, std::span<const column> columns,
               const nlohmann::json& objects);

}  // namespace strata::cli
