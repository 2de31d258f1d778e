// `strata.http`: a script asks a web server.
#pragma once

#include "runtime/scripting/host.hpp"
#include "script/call.hpp"

namespace strata::runtime::scripting {

/// Of `{url=, method=, headers=, body=, timeout_ms=}`. It gives a table: `ok`, `status`, `headers`
/// and `body`; or `ok` false and the `error`. No redirect is followed.
[[nodiscard]] loop::task<script::answers> request_web(host& host, script::call& call);

}  // namespace strata::runtime::scripting
