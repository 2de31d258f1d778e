// YNL specifications as they are written: YAML, by the schemas genetlink, genetlink-c and
// genetlink-legacy of the kernel's Documentation/netlink.
#pragma once

#include <string>
#include <string_view>

#include "cli/nl_spec.hpp"
#include "strata/base/result.hpp"

namespace strata::cli {

/// Checks and structs are passed over. Errors: malformed, naming `file`, the line, and what is
/// wrong with it, in letters that are the file's own: a terminal is not to be shown them as they
/// are.
[[nodiscard]] result<nl_spec> read_spec(std::string_view yaml, const std::string& file);

}  // namespace strata::cli
