// An answer whose body a function of the script gives, piece by piece.
#pragma once

#include "http/exchange.hpp"
#include "loop/task.hpp"
#include "runtime/scripting/host.hpp"
#include "runtime/scripting/web/http_answer.hpp"
#include "script/kept_function.hpp"

namespace strata::runtime::scripting {

/// Calls `body` for each piece, when the client has room for it, until it gives nil. One that
/// fails, or gives something that is no text, cuts the answer: the client sees that it is not
/// whole. When the client leaves, it is called no more.
[[nodiscard]] loop::task<> send_in_pieces(host& host, http::exchange& exchange, http_answer head,
                                          std::unique_ptr<script::kept_function> body);

}  // namespace strata::runtime::scripting
