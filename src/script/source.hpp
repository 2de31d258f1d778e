// The text of a script's file.
#pragma once

#include <string>

#include "strata/base/result.hpp"

namespace strata::script {

/// Longer files are no scripts.
inline constexpr std::size_t longest_source = 4U << 20U;

/// Reads a file that was written by a person. Errors: naming the file: of the system, and
/// invalid_argument for what is no regular file, too long, or compiled.
[[nodiscard]] result<std::string> read_source(const std::string& path);
/// The same of a path below `folder`; nothing outside of that is read, whatever a link says. Errors
/// besides: not_found when there is no such file.
[[nodiscard]] result<std::string> read_source_below(const std::string& folder,
                                                    const std::string& relative);

}  // namespace strata::script
