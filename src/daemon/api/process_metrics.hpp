// What the process itself takes, in the names that Prometheus's client libraries use.
#pragma once

#include <string>
#include <string_view>

namespace strata::daemon {

/// strata_build_info and process_*, in Prometheus's text format. What the kernel does not tell is
/// left out.
[[nodiscard]] std::string process_metrics(std::string_view version);

}  // namespace strata::daemon
