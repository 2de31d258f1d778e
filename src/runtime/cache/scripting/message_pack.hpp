// The table `cmsgpack` of Redis's scripts: values as MessagePack, as lua-cmsgpack 0.4 writes and
// reads it. Source: the MessagePack specification, and `redis-server` 7.0 for what it leaves open.
#pragma once

#include <span>

#include "script/library.hpp"

namespace strata::runtime::cache {

/// Its functions, which need no host.
[[nodiscard]] std::span<const script::function_row> message_pack_rows();

}  // namespace strata::runtime::cache
