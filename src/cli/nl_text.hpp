// Generic netlink for people and programs: families, policies and attributes as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "strata/nl/generic.hpp"

namespace strata::cli {

[[nodiscard]] nlohmann::json family_to_json(const nl::generic_family& family);
[[nodiscard]] std::string render_family(const nl::generic_family& family);

/// Operations with the attributes that they take, nests within nests.
[[nodiscard]] nlohmann::json policy_to_json(const nl::family_policy& policy);
[[nodiscard]] std::string render_policy(const nl::family_policy& policy);

/// What a message holds. Nobody has said what the attributes are, so a value is shown in each way
/// that fits it: as text, as a number, as a nest, else in hexadecimal.
[[nodiscard]] nlohmann::json attributes_to_json(const wire::netlink_attributes& attributes);
[[nodiscard]] std::string render_attributes(const wire::netlink_attributes& attributes,
                                            std::size_t indent);

}  // namespace strata::cli
