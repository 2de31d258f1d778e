// Collects the messages of libbpf and libxdp for our errors, instead of printing them to stderr.
#pragma once

#include <string>

namespace strata::xdp {

/// From here on, keeps the messages of this thread's calls; discards earlier ones.
void listen_to_bpf_libraries();

/// Returns this thread's warnings since then.
[[nodiscard]] const std::string& bpf_libraries_said();

}  // namespace strata::xdp
