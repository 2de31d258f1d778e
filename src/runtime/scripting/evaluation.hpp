// `strata lua repl`: runs a typed line in a running script.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "loop/loop.hpp"
#include "runtime/operations.hpp"
#include "script/machine.hpp"

namespace strata::runtime::scripting {

/// Runs an expression or statements as a function of the script, which may wait. Returns the
/// `values`, as texts, and the `output`, the printed lines; or the `error`, which is `incomplete`
/// if more text could complete it. Errors: timed_out at `limit`; the function continues then. The
/// machine may be destroyed meanwhile.
[[nodiscard]] loop::task<result<nlohmann::json>> evaluate(script::machine& machine,
                                                          std::string text, loop::time_point limit);

/// The members of the result.
[[nodiscard]] std::span<const answer_row> evaluation_rows();

}  // namespace strata::runtime::scripting
