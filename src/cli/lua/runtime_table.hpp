// The table form of a file for `strata run`: what the global `runtimes` lists is deployed, as
// socketley's files have it.
#pragma once

#include "script/machine.hpp"

namespace strata::cli {

/// Deploys the list `runtimes` of a file that has been run, if it has one: calls `strata.create`
/// for each. A table `daemon` is not applied, and a printed line says so. Errors reach the
/// machine's observer, with the number of the entry.
void deploy_table(script::machine& machine);

}  // namespace strata::cli
