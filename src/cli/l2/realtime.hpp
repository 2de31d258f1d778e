// What a thread asks of the kernel to be woken in time.
#pragma once

#include "cli/line/invocation.hpp"

namespace strata::cli {

/// By --fifo (SCHED_FIFO), --cpu (this thread on that one only) and --mlock (all memory of the
/// process stays), for the thread that calls it; timer slack is switched off in any case. Errors:
/// each refusal of the kernel's, with what would allow it.
[[nodiscard]] outcome<> become_realtime(const invocation& call);

}  // namespace strata::cli
