// The family `strata cert`: certificates for TLS. It needs no daemon.
#pragma once

#include <vector>

#include "cli/line/verb.hpp"

namespace strata::cli {

outcome<int> run_cert_make(const invocation& call);
outcome<int> run_cert_show(const invocation& call);

[[nodiscard]] std::vector<verb_row> cert_verbs();

}  // namespace strata::cli
