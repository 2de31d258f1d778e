// What a machine is, as far as it bears on what was measured on it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace strata::measure {

/// `kernel`, `architecture`, `cpu`, `cores`, `governor`, `hypervisor`: strings and numbers, with
/// "unknown" (and why, where that is known) for what this machine does not tell.
[[nodiscard]] nlohmann::json describe_machine();

/// The interface's offloads, each true or false, or null where its driver does not say.
[[nodiscard]] nlohmann::json describe_offloads(const std::string& link);

}  // namespace strata::measure
