// The last descriptors of the process, which are kept for its operator: clients of the runtimes,
// and what is connected for them, get none of these, so that the control socket and the state
// folder can always be served.
#pragma once

#include "strata/base/error.hpp"

namespace strata::loop {

/// The least number that is kept, by the limit of open files at the first call. The kernel gives
/// the least number that is free: a descriptor from here on says that few are left. From any
/// thread.
[[nodiscard]] int first_kept_descriptor();

/// What `operation` fails with where it would take one of them.
[[nodiscard]] error no_descriptor_left(std::string operation);

}  // namespace strata::loop
