// YNL specifications as they are written: YAML, by the schemas genetlink, genetlink-c and
// genetlink-legacy of the kernel's Documentation/netlink.
#pragma once

#include <string>
#include <string_view>

#include "cli/nl_spec.hpp"
#include "cli/outcome.hpp"

namespace strata::cli {

/// What the CLI has no use for (checks, constants, structs) is passed over. Errors: failed, naming
/// `file`, the line, and what is wrong with it.
[[nodiscard]] outcome<nl_spec> read_spec(std::string_view yaml, const std::string& file);

}  // namespace strata::cli
