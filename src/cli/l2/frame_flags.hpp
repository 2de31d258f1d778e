// The flags of the l2 verbs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/line/invocation.hpp"
#include "strata/base/mac_address.hpp"
#include "strata/wire/vlan.hpp"

namespace strata::cli {

/// Parses "0x88b5" or "34997"; `otherwise` if the flag is not given. Errors: misused.
[[nodiscard]] outcome<std::optional<std::uint16_t>> ethertype_flag(
    const invocation& call, std::optional<std::uint16_t> otherwise);

/// Errors: misused, naming the flag.
[[nodiscard]] outcome<std::optional<mac_address>> mac_flag(const invocation& call,
                                                           std::string_view key);

/// The tags from --outer, --vlan, --prio and --dei, outermost first.
[[nodiscard]] std::vector<wire::vlan_tag> tag_flags(const invocation& call);

}  // namespace strata::cli
