// Ctrl-C as a request to come to an end, for verbs that listen until then.
#pragma once

namespace strata::cli {

/// From now on SIGINT, SIGTERM and SIGHUP are noted, and interrupt a wait once.
void watch_for_interrupt();

[[nodiscard]] bool is_interrupted();

}  // namespace strata::cli
