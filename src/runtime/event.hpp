// An event of a runtime: a line of the journal of events as a value.
#pragma once

#include <nlohmann/json.hpp>

#include "runtime/journal.hpp"

namespace strata::runtime {

/// `{time, event, runtime, type, detail}`. For a line that reports lost lines: `lost`.
[[nodiscard]] nlohmann::json event_of(const journal_line& line);

}  // namespace strata::runtime
