// How verbs show what the daemon answered, in the form that was asked for.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "cli/daemon_client/names.hpp"
#include "cli/line/invocation.hpp"
#include "cli/terminal/table.hpp"

namespace strata::cli {

/// `value`, indented, with a line end.
void print_json(const nlohmann::json& value);

/// The names of the objects, one a line, or as a JSON array.
void print_names(const invocation& call, const nlohmann::json& objects);

/// "NAME: running at tcp://0.0.0.0:9000", or the name alone when quiet. Nothing when the answers
/// are to be JSON: that is for the caller, who knows whether there are more.
void report_state(const invocation& call, const nlohmann::json& detail);

/// A list of objects as names, JSON or a table.
void show_list(const invocation& call, std::span<const column> columns,
               const nlohmann::json& objects);

/// What was gathered as JSON: one plain name gives its object (nothing when it failed), anything
/// else an array.
void print_gathered(const invocation& call, const nlohmann::json& answers);

/// True when the words are one plain name.
[[nodiscard]] bool names_one(const invocation& call);

}  // namespace strata::cli
