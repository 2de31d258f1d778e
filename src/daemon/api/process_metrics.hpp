// The resources of the process itself, under the names of Prometheus's client libraries.
#pragma once

#include <string>
#include <string_view>

namespace strata::daemon {

/// strata_build_info and process_*, in Prometheus's text format. Values that the kernel does not
/// provide are left out.
[[nodiscard]] std::string process_metrics(std::string_view version);

}  // namespace strata::daemon
