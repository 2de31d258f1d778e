// Objects for a person or a program: as a table, as names, or as JSON, whatever was asked for.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "cli/line/invocation.hpp"
#include "cli/terminal/table.hpp"

namespace strata::cli {

/// `value`, indented, with a line end.
void print_json(const nlohmann::json& value);

/// The names of the objects, one a line, or as a JSON array.
void print_names(const invocation& call, const nlohmann::json& objects);

/// A list of objects as names, JSON or a table.
void show_list(const invocation& call, std::span<const column> columns,
               const nlohmann::json& objects);

}  // namespace strata::cli
