// A request body that is passed to a script function, piece by piece.
#pragma once

#include <nlohmann/json.hpp>

#include "http/exchange.hpp"
#include "loop/task.hpp"
#include "runtime/counters.hpp"
#include "runtime/scripting/host.hpp"
#include "script/kept_function.hpp"

namespace strata::runtime::scripting {

/// The answer that a function has returned for a request.
struct given_answer {
  nlohmann::json head;                          ///< null: there is no answer
  std::unique_ptr<script::kept_function> body;  ///< null: the head includes the body
};

/// Errors: canceled, if the script has failed, which was logged; the result is no valid answer.
/// `name` is the function's.
[[nodiscard]] result<given_answer> read_answer(const script::finished& outcome,
                                               std::string_view name);

/// Calls `taker` with each piece, and reads the next one when it has returned; then calls it with
/// nil. The answer is its result at the end, or an earlier one: then the rest is not read. If the
/// body cannot be read, `taker` is called with nil and the reason, which is also the error.
[[nodiscard]] loop::task<result<given_answer>> take_in_pieces(host& host, http::exchange& exchange,
                                                              script::kept_function& taker,
                                                              counter& bytes);

}  // namespace strata::runtime::scripting
