// The table `struct` of Redis's scripts: values in the layout of C's structures. Source: the manual
// of Roberto Ierusalimschy's library "struct" 0.2, and `redis-server` 7.0 for what it leaves open.
#pragma once

#include <span>

#include "script/library.hpp"

namespace strata::runtime::cache {

/// Its functions, which need no host.
[[nodiscard]] std::span<const script::function_row> binary_layout_rows();

}  // namespace strata::runtime::cache
