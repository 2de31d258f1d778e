// Reads YNL specifications: YAML, by the schemas genetlink, genetlink-c and genetlink-legacy of the
// kernel's Documentation/netlink.
#pragma once

#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "ynl/spec.hpp"

namespace strata::ynl {

/// Ignores checks and structs. Errors: malformed, naming `file`, the line, and the fault in the
/// file's own characters: make them printable before showing them on a terminal.
[[nodiscard]] result<spec> read_spec(std::string_view yaml, const std::string& file);

}  // namespace strata::ynl
