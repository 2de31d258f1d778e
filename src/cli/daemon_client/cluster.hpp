// The other daemons of the cluster that a daemon belongs to.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/line/daemon_address.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

/// Returns the answer of `GET /v1/cluster`.
[[nodiscard]] outcome<nlohmann::json> read_cluster(const daemon_address& daemon);

/// Returns where `daemon.other` is reached. Errors: not_found, with the names that there are;
/// failed if it cannot be reached from elsewhere.
[[nodiscard]] outcome<daemon_address> find_in_cluster(const daemon_address& daemon);

/// Returns the names of the daemons that `glob` fits. Errors: not_found if there are none.
[[nodiscard]] outcome<std::vector<std::string>> daemons_of_glob(const daemon_address& daemon,
                                                                const std::string& glob);

}  // namespace strata::cli
