// Generic netlink families and their policies as text and as JSON, with names if there is a
// specification.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "strata/nl/generic.hpp"
#include "ynl/spec.hpp"

namespace strata::cli {

/// `spec` may be nullptr.
[[nodiscard]] nlohmann::json family_to_json(const nl::generic_family& family,
                                            const ynl::spec* spec);
[[nodiscard]] std::string render_family(const nl::generic_family& family, const ynl::spec* spec);

/// The specification of operations: how to call them, their purpose, and the content of their
/// messages.
[[nodiscard]] nlohmann::json spec_to_json(const ynl::spec& spec);
[[nodiscard]] std::string render_spec(const ynl::spec& spec);

/// Operations with the attributes that they take, in nests.
[[nodiscard]] nlohmann::json policy_to_json(const nl::family_policy& policy, const ynl::spec* spec);
[[nodiscard]] std::string render_policy(const nl::family_policy& policy, const ynl::spec* spec);

}  // namespace strata::cli
