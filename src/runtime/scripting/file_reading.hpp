// `strata.read_file`: a script reads a file that lies in its folder, or below.
#pragma once

#include "runtime/scripting/host.hpp"
#include "script/call.hpp"

namespace strata::runtime::scripting {

inline constexpr std::uint64_t most_file_bytes = 16U << 20U;

/// Anywhere, where the script is unsafe. It gives the bytes.
[[nodiscard]] loop::task<script::answers> read_file(host& host, script::call& call);

}  // namespace strata::runtime::scripting
