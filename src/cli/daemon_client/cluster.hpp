// The other daemons of the cluster that a daemon belongs to.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/daemon_address.hpp"
#include "cli/line/outcome.hpp"

namespace strata::cli {

/// Returns the answer of `GET /v1/cluster`.
[[nodiscard]] outcome<nlohmann::json> read_cluster(const daemon_address& daemon);
/// That of the daemon at `daemon.socket`, in which `daemon.other` is looked up.
[[nodiscard]] outcome<nlohmann::json> read_local_cluster(daemon_address daemon);

/// Returns where `daemon.other` is reached. Errors: not_found, with the names that there are;
/// failed if it cannot be reached from elsewhere.
[[nodiscard]] outcome<daemon_address> find_in_cluster(const daemon_address& daemon);

/// Whether a word of `--on` may stand for more than one daemon: a glob, or KEY=VALUE.
[[nodiscard]] bool names_daemons(std::string_view word);

/// Returns the names of the daemons of an answer of `GET /v1/cluster` that `word` stands for: that
/// name, those that a glob fits, or those with all labels of KEY=VALUE,KEY=VALUE. Errors: not_found
/// if there are none.
[[nodiscard]] outcome<std::vector<std::string>> select_daemons(const nlohmann::json& cluster,
                                                               const std::string& word);

}  // namespace strata::cli
