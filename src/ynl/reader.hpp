// YNL specifications as they are written: YAML, by the schemas genetlink, genetlink-c and
// genetlink-legacy of the kernel's Documentation/netlink.
#pragma once

#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "ynl/spec.hpp"

namespace strata::ynl {

/// Checks and structs are passed over. Errors: malformed, naming `file`, the line, and what is
/// wrong with it, in letters that are the file's own: a terminal is not to be shown them as they
/// are.
[[nodiscard]] result<spec> read_spec(std::string_view yaml, const std::string& file);

}  // namespace strata::ynl
