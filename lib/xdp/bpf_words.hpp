// What libbpf and libxdp say: into our errors, instead of to stderr.
#pragma once

#include <string>

namespace strata::xdp {

/// From here on the words of this thread's calls are kept. What was kept before is gone.
void listen_to_bpf_libraries();

/// Warnings of this thread since then.
[[nodiscard]] const std::string& bpf_libraries_said();

}  // namespace strata::xdp
