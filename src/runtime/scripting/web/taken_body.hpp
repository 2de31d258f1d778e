// A request's body that a function of the script takes, piece by piece.
#pragma once

#include <nlohmann/json.hpp>

#include "http/exchange.hpp"
#include "loop/task.hpp"
#include "runtime/counters.hpp"
#include "runtime/scripting/host.hpp"
#include "script/kept_function.hpp"

namespace strata::runtime::scripting {

/// What a function has given as the answer to a request.
struct given_answer {
  nlohmann::json head;                          ///< null: nothing
  std::unique_ptr<script::kept_function> body;  ///< null: the head has it
};

/// Errors: canceled, the script has failed, which has been told; what it gave is no answer. `name`
/// is the function's.
[[nodiscard]] result<given_answer> read_answer(const script::finished& outcome,
                                               std::string_view name);

/// Calls `taker` with each piece, and reads the next once it has returned; then with nil. The
/// answer is what it gives at the end, or before: then the rest is not read. Where the body cannot
/// be read, `taker` is called with nil and why, and that is the error.
[[nodiscard]] loop::task<result<given_answer>> take_in_pieces(host& host, http::exchange& exchange,
                                                              script::kept_function& taker,
                                                              counter& bytes);

}  // namespace strata::runtime::scripting
