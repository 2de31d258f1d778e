// Which runtime owns which, and which connects to which by its name: no circle of either may come
// about. An edit that is being saved counts with what it changes and with what it may change back
// to.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "daemon/entry.hpp"

namespace strata::daemon {

/// Whether `options` may make their owner the owner of `name`. Errors: not_found, conflict.
[[nodiscard]] result<void> check_owner(const entry_map& all, const std::string& name,
                                       const nlohmann::json& options);
/// Whether `name` may need what `body` says that it needs. Errors: conflict.
[[nodiscard]] result<void> check_needs(const entry_map& all, const std::string& name,
                                       const runtime::runtime& body);

/// Those that `name` owns, or would own again when their edit is taken back.
[[nodiscard]] std::vector<entry_ref> children_of(const entry_map& all, const std::string& name);
[[nodiscard]] std::vector<std::string> running_that_need(const entry_map& all,
                                                         const std::string& name);

using rank = std::vector<entry_ref>;
/// What may start, or stop, side by side: each needs only what is in ranks before its own.
[[nodiscard]] std::vector<rank> by_needs(const entry_map& all);

}  // namespace strata::daemon
