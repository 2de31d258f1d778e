// Describes a machine, as far as it matters for measurements on it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace strata::measure {

/// Returns `kernel`, `architecture`, `cpu`, `cores`, `governor`, `hypervisor`: strings and numbers,
/// with "unknown" (and the reason, if known) for what this machine does not reveal.
[[nodiscard]] nlohmann::json describe_machine();

/// Returns the interface's offloads, each true or false, or null if its driver does not report it.
[[nodiscard]] nlohmann::json describe_offloads(const std::string& link);

}  // namespace strata::measure
