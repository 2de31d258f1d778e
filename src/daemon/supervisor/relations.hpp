// Which runtime owns which, and which connects to which by its name: no circle of either may come
// about. Of one whose edit is being written both count: what it is, and what it becomes.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "daemon/supervisor/entry.hpp"

namespace strata::daemon {

/// Whether `options` may make their owner the owner of `name`. Errors: not_found, conflict.
[[nodiscard]] result<void> check_owner(const entry_map& all, const std::string& name,
                                       const nlohmann::json& options);
/// What each runtime has been told last of each group that it follows.
using told_members = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

/// Whether `name` may come to need `needs`, of which it has those of `before` already. Errors:
/// conflict.
[[nodiscard]] result<void> check_needs(const entry_map& all, const told_members& members,
                                       const std::string& name, std::vector<std::string> needs,
                                       const std::vector<std::string>& before);
/// Those of `texts` from which a way leads to `name`, by names and by groups. Whether they run does
/// not matter: they may at any moment. Where one has been told of a member of a group, it connects
/// to that until it asks again, whatever has become of the group.
[[nodiscard]] std::vector<std::string> leading_to(const entry_map& all, const told_members& members,
                                                  std::vector<std::string> texts,
                                                  const std::string& name);

/// Those that `name` owns, or will own once their edit is written.
[[nodiscard]] std::vector<entry_ref> children_of(const entry_map& all, const std::string& name);
[[nodiscard]] std::vector<std::string> running_that_need(const entry_map& all,
                                                         const std::string& name);

using rank = std::vector<entry_ref>;
/// What may start, or stop, side by side: each needs only what is in ranks before its own.
[[nodiscard]] std::vector<rank> by_needs(const entry_map& all);

}  // namespace strata::daemon
