// Which stack a runtime belongs to: the one that created it, which its label `strata.stack` names.
//
// Plain values and pure functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "stack/plan.hpp"

namespace strata::stack {

inline constexpr std::string_view stack_label = "strata.stack";

/// The stack to which a runtime with these options belongs; empty if there is none.
[[nodiscard]] std::string stack_of(const nlohmann::json& options);

/// Gives the runtime the label of its stack if the stack creates it. A runtime that exists keeps
/// the label that it has, and gets none, since its stack, if any, is another.
void join_stack(desired_runtime& desired, std::string_view stack,
                const std::optional<present_runtime>& present);

}  // namespace strata::stack
