// Typed commands of a family, in C++.
#pragma once

#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "ynl/spec.hpp"

namespace strata::ynl {

/// A header that stands on strata's library alone, in a namespace of the family's name: for each
/// operation a request with a setter for each attribute, and a reply with a reader for each. Its
/// lines are not indented. `source` is what the header says that it is made from. Errors:
/// malformed, naming `of.file`, of what the specification has twice or does not have, and of a
/// fixed header.
[[nodiscard]] result<std::string> cpp_header(const spec& spec, std::string_view source);

}  // namespace strata::ynl
