// Asks the kernel to wake a thread in time.
#pragma once

#include "cli/line/invocation.hpp"

namespace strata::cli {

/// Applies --fifo (SCHED_FIFO), --cpu (this thread on that CPU only) and --mlock (locks all memory
/// of the process) to the calling thread; timer slack is switched off in any case. Errors: each
/// refusal of the kernel, with what would allow it.
[[nodiscard]] outcome<> become_realtime(const invocation& call);

}  // namespace strata::cli
