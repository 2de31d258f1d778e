// Generates typed commands of a family in C++.
#pragma once

#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "ynl/spec.hpp"

namespace strata::ynl {

/// Returns a header that needs only strata's library, in a namespace of the family's name: for each
/// operation a request with a setter for each attribute, and a reply with a reader for each. Its
/// lines are not indented. `source` is the origin that the header names. Errors: malformed, naming
/// `spec.file`, for what the specification has twice or lacks, and for a fixed header.
[[nodiscard]] result<std::string> cpp_header(const spec& spec, std::string_view source);

}  // namespace strata::ynl
