// An answer whose body comes from a script function, piece by piece.
#pragma once

#include "http/exchange.hpp"
#include "loop/task.hpp"
#include "runtime/scripting/host.hpp"
#include "runtime/scripting/web/http_answer.hpp"
#include "script/kept_function.hpp"

namespace strata::runtime::scripting {

/// Calls `body` for each piece, when there is room for it, until it returns nil. If it fails, or
/// returns something other than a text, the answer is cut short, which the client can detect. It is
/// not called any more once the client leaves.
[[nodiscard]] loop::task<> send_in_pieces(host& host, http::exchange& exchange, http_answer head,
                                          std::unique_ptr<script::kept_function> body);

}  // namespace strata::runtime::scripting
