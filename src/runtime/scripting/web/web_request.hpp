// `strata.http`: a script sends a request to a web server.
#pragma once

#include "runtime/scripting/host.hpp"
#include "script/call.hpp"

namespace strata::runtime::scripting {

/// Takes `{url=, method=, headers=, body=, timeout_ms=}`. Returns a table: `ok`, `status`,
/// `headers` and `body`; or `ok` false and the `error`. Redirects are not followed.
[[nodiscard]] loop::task<script::answers> request_web(host& host, script::call& call);

}  // namespace strata::runtime::scripting
