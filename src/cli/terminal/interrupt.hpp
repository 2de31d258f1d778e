// Ctrl-C as a request to come to an end, for verbs that listen until then.
#pragma once

#include <chrono>

namespace strata::cli {

/// How long a wait may last until it looks whether it was interrupted.
inline constexpr std::chrono::milliseconds interrupt_interval{100};

/// From now on SIGINT, SIGTERM and SIGHUP are noted, and interrupt a wait once.
void watch_for_interrupt();

[[nodiscard]] bool is_interrupted();

}  // namespace strata::cli
