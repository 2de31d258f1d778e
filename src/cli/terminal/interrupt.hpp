// Ctrl-C as a request to finish, for verbs that run until then.
#pragma once

#include <chrono>

namespace strata::cli {

/// How long a wait may last before it checks for an interrupt.
inline constexpr std::chrono::milliseconds interrupt_interval{100};

/// From now on SIGINT, SIGTERM and SIGHUP are recorded, and interrupt a wait once.
void watch_for_interrupt();

[[nodiscard]] bool is_interrupted();

}  // namespace strata::cli
