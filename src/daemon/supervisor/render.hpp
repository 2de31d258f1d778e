// The daemon's entries in the form of the control API, and in that of Prometheus.
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
/// The figures of all runtimes, sorted by name.
[[nodiscard]] nlohmann::json stats_json(const entry_list& all, loop::time_point now);
/// A line of a journal as one line of JSON.
[[nodiscard]] std::string log_line_json(const runtime::journal_line& line);
[[nodiscard]] std::string message_json(const runtime::journal_line& line);
[[nodiscard]] std::string event_json(const runtime::journal_line& line);
/// All runtimes by name, including those that could not be restored, as failed ones.
[[nodiscard]] nlohmann::json list_json(const entry_list& all, loop::time_point now);
/// Prometheus' text format 0.0.4.
[[nodiscard]] std::string metrics_text(const entry_list& all);

/// Serializes JSON; bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string dump(const nlohmann::json& value);

}  // namespace strata::daemon
