// The users that a cache's options name.
#pragma once

#include "runtime/cache/options.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::cache {

/// Checks `user` and its combination with `acl_file`. Errors: invalid_argument; the reason is what
/// is wrong with the rules.
[[nodiscard]] result<void> check_users(const cache_options& options);

}  // namespace strata::runtime::cache
