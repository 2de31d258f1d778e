// Circles of runtimes that connect to each other, over the daemons of a cluster.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cluster/card.hpp"

namespace strata::cluster {

/// Returns those of `members`, each `NAME@DAEMON`, from which a path leads to `target`, of the same
/// form, by the targets in the cards: data for them would circulate for ever. Whether runtimes run
/// does not matter: they may at any moment.
[[nodiscard]] std::vector<std::string> leading_to(const std::map<std::string, card>& cards,
                                                  std::vector<std::string> members,
                                                  const std::string& target);

}  // namespace strata::cluster
