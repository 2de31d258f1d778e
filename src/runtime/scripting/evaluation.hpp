// `strata lua repl`: a line that somebody types is run in a script that runs.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "loop/loop.hpp"
#include "runtime/operations.hpp"
#include "script/machine.hpp"

namespace strata::runtime::scripting {

/// Runs an expression or statements as a function of the script, which may wait. It gives the
/// `values`, as texts, and the `output`, lines that were printed; or the `error`, which is
/// `incomplete` where more text could mend it. Errors: timed_out at `limit`; it goes on then.
/// The machine may go meanwhile.
[[nodiscard]] loop::task<result<nlohmann::json>> evaluate(script::machine& machine,
                                                          std::string text, loop::time_point limit);

/// The members of what it gives.
[[nodiscard]] std::span<const answer_row> evaluation_rows();

}  // namespace strata::runtime::scripting
