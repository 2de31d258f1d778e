// A verb that is run on several daemons of a cluster.
#pragma once

#include "cli/line/invocation.hpp"
#include "cli/line/outcome.hpp"
#include "cli/line/verb.hpp"

namespace strata::cli {

/// Runs the verb on each daemon that `call.daemon.other`, a glob or labels, stands for, on all at
/// the same time, each in a process of its own. Each line that they print follows the daemon's
/// name. As JSON, the objects of a stream have a member `daemon`, and documents are in an array of
/// `{daemon, exit, answer}`. Returns the highest exit code.
[[nodiscard]] outcome<int> run_on_each(const verb_row& verb, const invocation& call);

}  // namespace strata::cli
