// `strata.read_file`: reads a file in the script's folder, or below.
#pragma once

#include "runtime/scripting/host.hpp"
#include "script/call.hpp"

namespace strata::runtime::scripting {

inline constexpr std::uint64_t most_file_bytes = 16U << 20U;

/// Returns the bytes. An unsafe script may read any file.
[[nodiscard]] loop::task<script::answers> read_file(host& host, script::call& call);

}  // namespace strata::runtime::scripting
