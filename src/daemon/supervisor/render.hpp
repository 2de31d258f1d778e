// The daemon's entries as the control API shows them, and as Prometheus reads them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "daemon/supervisor/entry_list.hpp"

namespace strata::daemon {

[[nodiscard]] nlohmann::json summary_json(const entry& entry, const entry_list& all,
                                          loop::time_point now);
[[nodiscard]] nlohmann::json detail_json(const entry& entry, const entry_list& all,
                                         loop::time_point now);
[[nodiscard]] nlohmann::json stats_json(const entry& entry, loop::time_point now);
/// Of all runtimes, sorted by name.
[[nodiscard]] nlohmann::json stats_json(const entry_list& all, loop::time_point now);
/// A line of a journal as one line of JSON.
[[nodiscard]] std::string log_line_json(const runtime::journal_line& line);
[[nodiscard]] std::string message_json(const runtime::journal_line& line);
[[nodiscard]] std::string event_json(const runtime::journal_line& line);
/// All runtimes by name, those that could not be restored among them, as failed ones.
[[nodiscard]] nlohmann::json list_json(const entry_list& all, loop::time_point now);
/// Prometheus' text format 0.0.4.
[[nodiscard]] std::string metrics_text(const entry_list& all);

/// As text; bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string dump(const nlohmann::json& value);

}  // namespace strata::daemon
