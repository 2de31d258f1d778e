// Points in time, as the daemon writes them and as users give them.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "cli/line/outcome.hpp"

namespace strata::cli {

using moment = std::chrono::sys_time<std::chrono::milliseconds>;

/// Parses RFC 3339: "2026-03-04T12:00:00.250Z", "2026-03-04T13:00:00+01:00"; nullopt for anything
/// else.
[[nodiscard]] std::optional<moment> parse_rfc3339(std::string_view text);

/// Parses the same, or a duration before `moment`: "10m". Errors: misused, with what it takes.
[[nodiscard]] outcome<moment> parse_since(std::string_view text, moment moment);

}  // namespace strata::cli
