// The program runtime: runs a program of the system, in one or several processes, and looks after
// them.
#pragma once

#include <memory>

#include "runtime/operations.hpp"
#include "runtime/program/options.hpp"
#include "runtime/runtime.hpp"

namespace strata::runtime::program {

[[nodiscard]] const std::vector<operation_row>& operation_rows();

/// Errors: invalid_argument if the options conflict.
[[nodiscard]] result<std::unique_ptr<runtime>> make(context&& context,
                                                    const nlohmann::json& options);

}  // namespace strata::runtime::program
