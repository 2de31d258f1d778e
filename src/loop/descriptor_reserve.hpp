// The last descriptors of the process, which are reserved for its operator: clients of the
// runtimes, and the connections made for them, cannot use them, so that the control socket and the
// state folder can always be served.
#pragma once

#include "strata/base/error.hpp"

namespace strata::loop {

/// Returns the lowest reserved number, which follows from the limit of open files at the first
/// call. The kernel assigns the lowest free number, so a descriptor of at least this number means
/// that few are left. From any thread.
[[nodiscard]] int first_kept_descriptor();

/// Returns the error of an `operation` that would use a reserved descriptor.
[[nodiscard]] error no_descriptor_left(std::string operation);

}  // namespace strata::loop
