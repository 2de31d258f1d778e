// Whether the runtimes of a stack serve.
#pragma once

#include <chrono>
#include <span>

#include "cli/line/outcome.hpp"
#include "cli/stack/fleet.hpp"

namespace strata::cli {

/// Waits until all that the stack starts run without a warning, and until every backend of their
/// proxies can be used and, with checks, has passed one. Shows on a terminal what it waits for.
/// Errors: failed, if a runtime fails or is removed, or if something is not ready within `timeout`;
/// those of the daemons.
[[nodiscard]] outcome<> wait_until_ready(std::span<const fleet::placed_runtime> placed,
                                         std::chrono::duration<double> timeout);

}  // namespace strata::cli
