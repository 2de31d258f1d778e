// Which runtime owns which, and which connects to which by name: neither relation may have a cycle.
// A runtime whose edit is being written counts with both its present and its edited options.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "daemon/supervisor/entry.hpp"

namespace strata::daemon {

/// Checks that `options` may make their owner the owner of `name`. Errors: not_found, conflict.
[[nodiscard]] result<void> check_owner(const entry_map& all, const std::string& name,
                                       const nlohmann::json& options);
/// Begins a group, as a place beside the runtimes' names: none of them begins with it.
inline constexpr char group_mark = '@';

/// For each runtime and each place that it watches: the members it was last given.
using given_members = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

/// Checks that `name` may need `needs`, of which it has those of `before` already. Errors:
/// conflict.
[[nodiscard]] result<void> check_needs(const entry_map& all, const given_members& members,
                                       const std::string& name, std::vector<std::string> needs,
                                       const std::vector<std::string>& before);
/// Returns those of `texts` from which a path leads to `name`, by names and by groups. Whether they
/// run does not matter: they may at any moment. A runtime that was given a member of a group may
/// stay connected to it until it is given others, even if the group has changed.
[[nodiscard]] std::vector<std::string> leading_to(const entry_map& all,
                                                  const given_members& members,
                                                  std::vector<std::string> texts,
                                                  const std::string& name);

/// The runtimes that `name` owns, or will own once an edit is written.
[[nodiscard]] std::vector<entry_ref> children_of(const entry_map& all, const std::string& name);
[[nodiscard]] std::vector<std::string> running_that_need(const entry_map& all,
                                                         const std::string& name);

using rank = std::vector<entry_ref>;
/// Whether the members of a group come in earlier ranks than those that follow the group.
enum class group_members : std::uint8_t { in_any_order, first };
/// Ranks of runtimes that may start or stop concurrently: each needs only runtimes in earlier
/// ranks.
[[nodiscard]] std::vector<rank> by_needs(entry_map left,
                                         group_members members = group_members::in_any_order);

}  // namespace strata::daemon
